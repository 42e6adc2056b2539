//! Grouping by cause: failures that share a root, in a launch, across launches, and by a person's decision.

use crate::harness::{Project, strings};
use serde_json::{Value, json};

/// A JUnit file of failures: class, test, error.
fn junit(failures: &[(&str, &str, &str)]) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let case = |(class, test, error): &(&str, &str, &str)| {
        let (class, test, error) = (escape(class), escape(test), escape(error));
        format!("<testcase classname=\"{class}\" name=\"{test}\"><failure message=\"{error}\"/></testcase>")
    };
    let cases: String = failures.iter().map(case).collect();
    format!("<testsuite name=\"nightly\">{cases}</testsuite>")
}

/// An outage that two services ran into, two checks of one class, and one of another.
const NIGHT: &[(&str, &str, &str)] = &[
    ("shop.OrderTest", "places an order", "java.net.ConnectException: Connection refused: connect to db.internal:5432"),
    ("shop.CartTest", "adds up", "java.lang.AssertionError: expected:<3> but was:<2>"),
    ("pay.RefundTest", "pays back", "dial tcp: connect to db.internal:5432: connection refused"),
    ("shop.CartTest", "takes off", "java.lang.AssertionError: expected:<1> but was:<0>"),
    ("ship.LabelTest", "prints", "java.lang.AssertionError: expected:<A4> but was:<A5>"),
];

fn run(project: &Project, failures: &[(&str, &str, &str)], args: &[&str]) -> Value {
    project.file("launch.xml", junit(failures));
    let run = project.asterisk(&[&["run", "--format", "json", "--input", "launch.xml"], args].concat()).ok().json();
    let path = format!(".asterisk/investigations/{}/rca.json", run["run"].as_str().unwrap());
    serde_json::from_str(&project.read(&path)).unwrap()
}

/// The tests of each cause, by class and in order.
fn causes(report: &Value) -> Vec<Vec<&str>> {
    let cases = report["cases"].as_array().unwrap();
    let suite = |id: &&str| cases.iter().find(|case| case["case"] == **id).unwrap()["suite"].as_str().unwrap();
    let causes = report["causes"].as_array().unwrap().iter();
    causes.map(|cause| strings(&cause["cases"]).iter().map(suite).collect()).collect()
}

fn case_of<'r>(report: &'r Value, suite: &str) -> &'r Value {
    let cases = report["cases"].as_array().unwrap();
    cases.iter().find(|case| case["suite"] == suite).unwrap_or_else(|| panic!("no case of {suite}"))
}

#[test]
fn failures_with_one_root_share_a_cause() {
    let project = Project::new();
    let report = run(&project, NIGHT, &[]);
    assert_eq!(causes(&report), [vec!["shop.OrderTest", "pay.RefundTest"], vec!["shop.CartTest"; 2], vec!["ship.LabelTest"]]);
    let outage = &case_of(&report, "pay.RefundTest")["finding"];
    assert_eq!(outage["root"]["rule"], "R3", "{outage:#}");
    assert_eq!(outage["cause"], case_of(&report, "shop.OrderTest")["finding"]["cause"]);
    let drafts = project.tree().into_iter().filter(|(path, _)| path.contains("/jira/") && path.ends_with(".json")).count();
    assert_eq!(drafts, 3, "one for each cause");
}

#[test]
fn explain_compares_the_causes_of_two_cases() {
    let project = Project::new();
    let report = run(&project, NIGHT, &[]);
    let id = |suite: &str| case_of(&report, suite)["case"].as_str().unwrap().to_owned();
    let explain = |one: &str, with: &str| {
        project.asterisk(&["explain", "latest", "--case", &id(one), "--with", &id(with), "--format", "json"]).ok().json()
    };
    let same = explain("shop.OrderTest", "pay.RefundTest");
    assert_eq!((&same["with"]["same"], &same["rule"]), (&json!(true), &json!("R3")));
    assert_eq!(same["others"], json!([id("pay.RefundTest")]));
    let other = explain("shop.CartTest", "ship.LabelTest");
    assert_eq!(other["with"]["same"], json!(false));
    let unit = other["with"]["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == "R14").unwrap();
    assert_eq!((&unit["same"], &unit["decides"]), (&json!(false), &json!([true, true])));
    let page = project.asterisk(&["explain", "latest", "--case", &id("shop.CartTest"), "--root"]).ok().stdout;
    assert!(page.contains("R14: tests-of-one-unit") && page.contains("in this launch only"), "{page}");
    let list = project.asterisk(&["explain", "latest", "--root"]).exits(0);
    assert!(list.text().contains("explain --root"), "{}", list.text());
}

#[test]
fn a_stored_cause_is_recognised_by_its_root() {
    let project = Project::new();
    let first = run(&project, NIGHT, &[]);
    let known = |report: &Value, suite: &str| case_of(report, suite)["finding"]["cause"].clone();
    // Another test runs into the same outage, and one of the class fails with other values.
    let second = run(
        &project,
        &[
            ("mail.SendTest", "sends", "java.net.ConnectException: Connection refused: connect to db.internal:5432"),
            ("shop.CartTest", "rounds", "java.lang.AssertionError: expected:<7> but was:<6>"),
        ],
        &[],
    );
    assert_eq!(known(&second, "mail.SendTest"), known(&first, "shop.OrderTest"));
    let rcas = project.asterisk(&["rca", "list", "--format", "json"]).ok().json();
    let open = rcas["rcas"].as_array().unwrap().iter().filter(|rca| rca["status"] == "open");
    let outage = open.filter(|rca| rca.to_string().contains("5432")).count();
    assert_eq!(outage, 1, "{rcas:#}");
}

#[test]
fn roots_do_not_depend_on_how_a_run_is_walked() {
    let keys = |args: &[&str]| {
        let project = Project::new();
        let report = run(&project, NIGHT, args);
        let cases = report["cases"].as_array().unwrap().iter();
        cases.map(|case| case["finding"]["cause"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let one = keys(&["--parallel", "1"]);
    assert_eq!(one, keys(&["--parallel", "8"]));
    assert_eq!(one, keys(&["--no-recall"]));
}

#[test]
fn a_person_merges_and_splits() {
    let project = Project::new();
    run(&project, NIGHT, &[]);
    let rcas = project.asterisk(&["rca", "list", "--format", "json"]).ok().json();
    let of = |part: &str| {
        let rcas = rcas["rcas"].as_array().unwrap().iter();
        let found = rcas.filter(|rca| rca["status"] == "open").find(|rca| rca.to_string().contains(part));
        found.unwrap_or_else(|| panic!("no root cause has {part}"))["id"].to_string()
    };
    let (cart, label) = (of("CartTest"), of("LabelTest"));
    let merged = project.asterisk(&["rca", "merge", &cart, &label, "--by", "ada", "--format", "json"]).ok().json();
    assert_eq!(merged["merged"]["cases"], 1, "{merged}");
    let next = run(&project, NIGHT, &["--no-recall"]);
    assert_eq!(causes(&next).len(), 2, "{:?}", causes(&next));
    assert_eq!(case_of(&next, "ship.LabelTest")["finding"]["root"]["by"], "merged");
    let takes_off = next["cases"].as_array().unwrap().iter().find(|case| case["name"] == "takes off").unwrap()["case"].clone();
    project.asterisk(&["rca", "split", &cart, "--case", takes_off.as_str().unwrap()]).ok();
    let after = run(&project, NIGHT, &["--no-recall"]);
    let split = after["cases"].as_array().unwrap().iter().find(|case| case["name"] == "takes off").unwrap();
    assert_eq!(split["finding"]["root"]["by"], "split", "{split:#}");
    assert_eq!(causes(&after).len(), 3, "{:?}", causes(&after));
    let unknown = project.asterisk(&["rca", "split", &cart, "--case", "nobody"]);
    assert!(unknown.stderr.contains("nobody"), "{}", unknown.text());
    project.asterisk(&["rca", "merge", &cart, &cart]).exits(2);
}

#[test]
fn a_cause_names_its_owners() {
    let project = Project::with(&[
        ("asterisk.yaml", "workspace:\n  repositories:\n    - { name: shop, path: shop, purpose: product code }\n"),
        ("shop/.github/CODEOWNERS", "*  @org/all\n/pricing/  @org/pricing\n"),
        ("shop/pricing/total.py", "def total(a, b):\n    return a / b\n"),
    ]);
    let error = "Traceback (most recent call last):\n  File \"/app/tests/test_total.py\", line 8, in test_total\n    total(1, 0)\n  \
                 File \"/app/pricing/total.py\", line 2, in total\n    return a / b\nZeroDivisionError: division by zero";
    let report = run(&project, &[("tests.test_total", "test_total", error)], &[]);
    assert_eq!(report["causes"][0]["finding"]["owners"], json!(["@org/pricing"]), "{:#}", report["causes"][0]);
    let page = project.tree().into_iter().find(|(path, _)| path.ends_with("/report.md")).unwrap().1;
    assert!(String::from_utf8(page).unwrap().contains("Owners: `@org/pricing`."));
}
