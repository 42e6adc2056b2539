//! Tests that pass and fail without a change are detected from their history, and excluded from a run by a list.

use crate::harness::Project;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A report of a night: its commit, and how each test ended.
fn night(project: &Project, number: usize, commit: &str, tests: &[(&str, &str, &str)]) {
    let mut cases = String::new();
    for (class, test, ended) in tests {
        let inside = match *ended {
            "passed" => "",
            "retried" => "<flakyFailure message=\"boom\">boom</flakyFailure>",
            _ => "<failure message=\"boom\">boom</failure>",
        };
        let _ = write!(cases, "<testcase classname=\"{class}\" name=\"{test}\">{inside}</testcase>");
    }
    let xml = format!(
        "<testsuites name=\"nightly\" uuid=\"n{number}\"><testsuite name=\"s\" timestamp=\"2026-02-{number:02}T02:00:00Z\">\
         <properties><property name=\"git.commit\" value=\"{commit}\"/></properties>{cases}</testsuite></testsuites>"
    );
    let file = project.file(&format!("{number}.xml"), xml);
    project.asterisk(&["run", "--files", "never", "--input", file.to_str().unwrap()]).exits(0);
}

#[test]
fn flaky_tests_are_detected_from_their_history() {
    let project = Project::new();
    assert!(project.asterisk(&["show", "flaky"]).exits(0).stderr.contains("no store yet"));
    let (cart, page, steady) = (
        ("tests.shop.test_cart.TestCart", "test_adds[a-b]"),
        ("com.shop.PageTest", "opens(int)[2]"),
        ("com.shop.StockTest", "reserves"),
    );
    let of = |(class, test): (&'static str, &'static str), ended: &'static str| (class, test, ended);
    night(&project, 1, "a", &[of(cart, "passed"), of(page, "passed"), of(steady, "passed")]);
    night(&project, 2, "b", &[of(cart, "failed"), of(page, "retried"), of(steady, "failed")]);
    assert_eq!(
        project.asterisk(&["show", "flaky", "--format", "json"]).ok().json()["flaky"].as_array().unwrap().len(),
        1,
        "retried once"
    );
    night(&project, 3, "b", &[of(cart, "passed"), of(page, "passed"), of(steady, "failed")]);
    let output = project.asterisk(&["show", "flaky", "--format", "json"]).ok().json();
    assert_eq!(output["schema_version"], 1);
    let flaky: Vec<(&Value, &Value)> =
        output["flaky"].as_array().unwrap().iter().map(|one| (&one["suite"], &one["test"])).collect();
    assert_eq!(
        flaky,
        [(&json!(page.0), &json!(page.1)), (&json!(cart.0), &json!(cart.1))],
        "tests broken by a change are not flaky: {output}"
    );
    let one = &output["flaky"][1];
    assert_eq!((&one["contradicted_commits"], &one["flips"], &one["flip_rate"]), (&json!(1), &json!(2), &json!(1.0)), "{one}");
    let table = project.asterisk(&["show", "flaky"]).ok().stdout;
    assert!(table.contains("passed when retried in 1 of 3") && table.contains("passed and failed on 1 commit"), "{table}");
    for (format, expected) in [
        (
            "pytest",
            "--deselect=com/shop.py::PageTest::opens(int)[2]\n--deselect=tests/shop/test_cart.py::TestCart::test_adds[a-b]\n",
        ),
        ("junit", "com.shop.PageTest#opens\ntests.shop.test_cart.TestCart#test_adds\n"),
        ("go", "^opens\\(int\\)\\[2\\]$|^test_adds\\[a\\-b\\]$\n"),
        ("playwright", "(?:^| )opens\\(int\\)\\[2\\](?:$| @)|(?:^| )test_adds\\[a\\-b\\](?:$| @)\n"),
    ] {
        assert_eq!(project.asterisk(&["show", "flaky", "--format", format]).ok().stdout, expected, "{format}");
    }
    assert!(project.asterisk(&["show", "symptoms", "--format", "pytest"]).exits(2).stderr.contains("asterisk show flaky"));
}
