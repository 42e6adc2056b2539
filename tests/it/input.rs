//! The input of a run: files, directories, several of them, and the errors for anything else.

use crate::harness::{Project, fixture, strings};
use serde_json::Value;

const FAILED: &str =
    r#"<testsuite name="s"><testcase classname="c" name="NAME"><failure message="boom"/></testcase></testsuite>"#;

fn cases(found: &Value) -> Vec<String> {
    found["cases"].as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap().to_owned()).collect()
}

/// A run's arguments around its inputs.
fn run<'a>(inputs: &[&'a str]) -> Vec<&'a str> {
    let inputs = inputs.iter().flat_map(|input| ["--input", input]);
    ["run", "--dry-run", "--format", "json"].into_iter().chain(inputs).collect()
}

#[test]
fn a_directory_means_all_launches_below_it() {
    let project = Project::new();
    project.file("shards/2/b.xml", FAILED.replace("NAME", "two"));
    project.file("shards/1/a.xml", FAILED.replace("NAME", "one"));
    project.file("shards/1/package.json", r#"{"name": "x", "version": "1.0.0", "dependencies": {}}"#);
    project.file("shards/1/empty.xml", "");
    project.file("shards/.cache/c.xml", FAILED.replace("NAME", "hidden"));
    project.file("more.json", std::fs::read(fixture("launches/items-with-logs.json")).unwrap());
    let found = project.asterisk(&run(&["shards"])).ok().json();
    assert_eq!(cases(&found), ["c::one", "c::two"]);
    let found = project.asterisk(&run(&["more.json", "shards/2", "shards/2/b.xml"])).ok().json();
    assert_eq!(cases(&found), ["t1", "t2", "t2#2", "c::two"]);
    let ran = project.asterisk(&["run", "--input", "shards", "--format", "json"]).ok().json();
    let path = format!(".asterisk/investigations/{}/rca.json", ran["run"].as_str().unwrap());
    let report: Value = serde_json::from_str(&project.read(&path)).unwrap();
    let notes = strings(&report["launch"]["notes"]).join("\n");
    assert!(notes.contains("left out: shards/1/empty.xml is empty"), "{notes}");
    assert!(notes.contains("left out: shards/1/package.json is not a test report; it looks like a package manifest"), "{notes}");
}

/// A sparse file of more than the limit, which takes no room on the disk.
#[test]
fn a_file_that_is_too_large_is_left_out() {
    let project = Project::with(&[("r/a.xml", FAILED)]);
    let large = std::fs::File::create(project.root().join("r/b.xml")).unwrap();
    large.set_len((1 << 30) + 1).unwrap();
    let ran = project.asterisk(&["run", "--input", "r", "--format", "json"]).exits(0).json();
    assert_eq!(cases(&ran), ["c::NAME"]);
    let path = format!(".asterisk/investigations/{}/rca.json", ran["run"].as_str().unwrap());
    let report: Value = serde_json::from_str(&project.read(&path)).unwrap();
    let notes = strings(&report["launch"]["notes"]).join("\n");
    assert!(notes.contains("`r/b.xml` is left out: r/b.xml has more than 1024 MiB"), "{notes}");
    let named = project.asterisk(&["run", "--dry-run", "--input", "r/b.xml"]).exits(3);
    assert!(named.stderr.contains("has more than 1024 MiB"), "{}", named.stderr);
}

/// The name is part of what scripts read of the other test, too: both failed with one message.
#[test]
fn a_long_name_does_not_affect_other_tests() {
    let test = |name: &str| format!(r#"<testcase classname="c" name="{name}"><failure message="m">at x</failure></testcase>"#);
    let project =
        Project::with(&[("r.xml", &format!("<testsuite>{}{}</testsuite>", test("good"), test(&"N".repeat(1_100_000))))]);
    let ran = project.asterisk(&["run", "--input", "r.xml", "--format", "json"]).ok().json();
    let statuses: Vec<&str> = ran["cases"].as_array().unwrap().iter().map(|case| case["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["done", "done"]);
}

#[test]
fn nothing_to_check_and_broken_launches_are_errors() {
    let project =
        Project::with(&[("other/package.json", r#"{"name": "x", "version": "1", "dependencies": {}}"#), ("empty/x.txt", "x")]);
    for (input, wanted) in [
        ("empty", "no launch found in `empty`"),
        ("other", "the files are not launches: other/package.json is not a test report"),
        ("gone", "cannot read `gone`"),
        ("empty/x.txt", "empty/x.txt is not a test report; it looks like plain text"),
    ] {
        let ran = project.asterisk(&["run", "--dry-run", "--input", input]);
        assert_ne!(ran.code, Some(0), "{input}");
        assert!(ran.stderr.contains(wanted), "{input}: {}", ran.stderr);
    }
    project.file("mixed/good.xml", FAILED);
    project.file("mixed/cut.xml", &FAILED[..40]);
    let ran = project.asterisk(&["run", "--dry-run", "--input", "mixed"]).exits(3);
    assert!(ran.stderr.contains("[mixed/cut.xml:1:21]") && ran.stderr.contains("the XML ends too soon"), "{}", ran.stderr);
}

#[test]
fn a_large_launch_is_streamed_and_its_errors_have_locations() {
    let project = Project::new();
    let line = format!("{{\"id\": 1, \"name\": \"t\", \"status\": \"PASSED\", \"description\": \"{}\"}},\n", "x".repeat(1000));
    let items = line.repeat(5000);
    let launch = |last: &str| format!("{{\"run_id\": 1, \"name\": \"n\", \"failure_list\": [\n{items}{last}]}}");
    project.file("good.json", launch(r#"{"id": 7, "name": "t", "status": "FAILED"}"#));
    project.file("bad.json", launch(r#"{"id": 7, "status": "FAILED"}"#));
    assert_eq!(cases(&project.asterisk(&run(&["good.json"])).ok().json()), ["7"]);
    let ran = project.asterisk(&run(&["bad.json"])).exits(3);
    assert!(ran.stderr.contains("bad.json:5002:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`failure_list[5000]` lacks `name`"), "{}", ran.stderr);
}
