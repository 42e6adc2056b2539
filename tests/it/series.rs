//! A week of launches, run by run: causes that are new, back, or gone.

use crate::harness::{Project, repository, strings};
use serde_json::{Value, json};

/// The launches, in order, with the day each was analysed on.
const NIGHTS: [(&str, &str); 5] = [
    ("1-3.1.0.json", "2026-02-02T08:00:00Z"),
    ("2-3.2.0.json", "2026-02-03T08:00:00Z"),
    ("3-3.3.0.json", "2026-02-04T08:00:00Z"),
    ("4-3.4.0.json", "2026-02-05T08:00:00Z"),
    ("5-3.5.0.json", "2026-02-06T08:00:00Z"),
];

/// A run of the series: its name, and `rca.json`.
fn analyse(project: &Project, file: &str, at: &str) -> (String, Value) {
    let launch = repository().join("examples/series").join(file);
    let call = project.call(&["run", "--format", "json", "--input", launch.to_str().unwrap()]);
    let ran = call.env("ASTERISK_CLOCK", at).ran().ok();
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let text = project.read(&format!(".asterisk/investigations/{run}/rca.json"));
    (run, serde_json::from_str(&text).unwrap())
}

/// The cause that a case belongs to.
#[track_caller]
fn cause_of<'r>(report: &'r Value, case: &str) -> &'r Value {
    let causes = report["causes"].as_array().unwrap();
    causes.iter().find(|cause| strings(&cause["cases"]).contains(&case)).unwrap_or_else(|| panic!("no cause has {case}"))
}

/// The state of a cause, by one of its cases, and whether the report's list has it.
#[track_caller]
fn stands(report: &Value, case: &str, state: &str) {
    let cause = cause_of(report, case);
    assert_eq!(cause["seen"]["state"], state, "{case}: {}", cause["seen"]);
    let list = if state == "regression" { "regressions" } else { state };
    let listed = report["regression"][list].as_array().unwrap();
    assert!(listed.contains(&cause["number"]), "{list}: {listed:?}");
}

#[test]
fn five_versions_have_the_expected_history() {
    let project = Project::new();
    let runs: Vec<(String, Value)> = NIGHTS.iter().map(|(file, at)| analyse(&project, file, at)).collect();
    let [first, second, third, fourth, fifth] = [0, 1, 2, 3, 4].map(|night: usize| &runs[night].1);

    // 3.1.0: everything except flaky tests is new; two tests show one crash.
    for case in ["510101", "510103"] {
        stands(first, case, "new");
    }
    stands(first, "510104", "flaky");
    assert_eq!(cause_of(first, "510101")["cases"], json!(["510101", "510102"]));
    assert_eq!(first["regression"]["launches"].as_array().unwrap().len(), 1);

    // 3.2.0: the crash persists; a failing set-up breaks three tests; the mail worker is fixed.
    stands(second, "510201", "recurring");
    stands(second, "510202", "new");
    let cascade = cause_of(second, "510203");
    assert_eq!(cascade["cases"], json!(["510203", "510204", "510205"]));
    assert_ne!(cascade["number"], cause_of(second, "510202")["number"], "a separate root");
    let gone = |report: &Value, part: &str| {
        report["regression"]["gone"].as_array().unwrap().iter().any(|gone| gone.to_string().contains(part))
    };
    assert!(gone(second, "NOTIFY_SMTP_URL"), "{}", second["regression"]["gone"]);

    // 3.3.0: one outage over three services, six tests; the banner is back, which is not a regression.
    let outage = cause_of(third, "510301");
    assert_eq!(outage["cases"].as_array().unwrap().len(), 6);
    stands(third, "510301", "new");
    stands(third, "510307", "recurring");
    stands(third, "510308", "flaky");

    // 3.4.0: the crash is gone after three versions; a deadlock is new.
    stands(fourth, "510401", "new");
    assert_eq!(cause_of(fourth, "510401")["cases"], json!(["510401", "510402"]));
    let crash = fourth["regression"]["gone"].as_array().unwrap().iter().find(|gone| gone["launches"] == 3).unwrap();
    assert_eq!(
        (&crash["component"], &crash["since"]["version"], &crash["last"]["version"]),
        (&json!("fares"), &json!("3.1.0"), &json!("3.3.0"))
    );

    // 3.5.0: the crash is back; the deadlock persists; a test broke on a changed page.
    stands(fifth, "510501", "regression");
    stands(fifth, "510502", "recurring");
    stands(fifth, "510503", "new");
    stands(fifth, "510504", "flaky");
    let seen = &cause_of(fifth, "510501")["seen"];
    assert_eq!(seen["versions"], json!(["3.1.0", "3.2.0", "3.3.0", "3.5.0"]));
    assert_eq!((&seen["absent"], &seen["since"]["launch"]), (&json!(1), &json!("5101")));
    let matrix = fifth["regression"]["matrix"].as_array().unwrap();
    let line = |case: &str| matrix.iter().find(|line| line["cause"] == cause_of(fifth, case)["number"]).unwrap();
    let present = |case: &str| -> Vec<bool> { line(case)["cells"].as_array().unwrap().iter().map(|cell| *cell != 0).collect() };
    assert_eq!(present("510501"), [true, true, true, false, true]);
    assert_eq!(present("510504"), [true, false, true, true, true]);
    assert_eq!((&line("510501")["serial"], &line("510504")["serial"]), (&json!(true), &json!(false)), "a flake is not serial");

    // The same in words and as issues.
    let (run, _) = &runs[4];
    let dir = format!(".asterisk/investigations/{run}");
    let words = project.read(&format!("{dir}/regression-report.md"));
    assert!(words.contains("## Regressions") && words.contains("then not in 1 launch"), "{words}");
    let page = project.read(&format!("{dir}/report.html"));
    assert!(page.contains("regression: known since 3.1.0, then not in 1 launch"));
    let number = cause_of(fifth, "510501")["number"].as_u64().unwrap();
    let (_, issue) = project.tree().into_iter().find(|(path, _)| path.starts_with(&format!("{dir}/jira/{number:02}-"))).unwrap();
    let issue: Value = serde_json::from_slice(&issue).unwrap();
    assert_eq!((&issue["review"], &issue["fields"]["versions"][0]["name"]), (&json!("auto"), &json!("3.5.0")));
    assert!(strings(&issue["fields"]["labels"]).contains(&"regression"), "{issue}");
    assert!(issue["fields"]["description"].as_str().unwrap().contains("|*History*|regression: known since 3.1.0"), "{issue}");

    // Every night's files can be made again as they were, though the store knows more by now.
    for (run, report) in &runs {
        let dir = format!(".asterisk/investigations/{run}");
        let files = ["rca.json", "report.html", "report.md", "regression-report.md"];
        let before: Vec<String> = files.iter().map(|file| project.read(&format!("{dir}/{file}"))).collect();
        std::fs::remove_dir_all(project.root().join(&dir)).unwrap();
        project.asterisk(&["report", run]).ok();
        for (file, before) in files.iter().zip(before) {
            assert!(project.read(&format!("{dir}/{file}")) == before, "{file} of {}", report["launch"]["name"]);
        }
    }
}

/// A JUnit report of two tests, of which one ended so; a failure has its error.
fn junit(night: usize, failure: Option<&str>) -> String {
    let ended = failure.map_or_else(String::new, |error| format!("<failure message=\"{error}\">{error}</failure>"));
    format!(
        "<testsuites name=\"shop nightly\" uuid=\"n{night}\"><testsuite name=\"shop\" timestamp=\"2026-02-0{night}T02:00:00Z\">\
         <properties><property name=\"git.commit\" value=\"0a1b2c3\"/><property name=\"version\" value=\"4.{night}\"/></properties>\
         <testcase classname=\"shop.Cart\" name=\"adds up\">{ended}</testcase><testcase classname=\"shop.Cart\" name=\"empties\"/>\
         </testsuite></testsuites>"
    )
}

#[test]
fn a_failure_comes_with_the_history_of_its_test() {
    let project = Project::new();
    let nights = [None, Some("AssertionError: expected 1, got 2"), Some("panic: no such row in table carts")];
    let histories: Vec<Value> = (1..)
        .zip(nights)
        .map(|(night, failure)| {
            let path = project.file(&format!("{night}.xml"), junit(night, failure));
            let ran = project.asterisk(&["run", "--input", path.to_str().unwrap(), "--format", "json"]).exits(0).json();
            if failure.is_none() {
                return Value::Null;
            }
            let output = |expression: &str| {
                let lines = format!(":at triage\n\"@@\"\n:full {expression}");
                let repl = project.asterisk_reading(&["repl", "--run", ran["run"].as_str().unwrap()], &lines).exits(0);
                repl.stdout.split_once("@@\"\n").unwrap().1.to_owned()
            };
            json!([
                serde_json::from_str::<Value>(&output("params.needs.tests_history")).unwrap(),
                output("artifact.reasoning").contains("it passed on the same commit before"),
            ])
        })
        .collect();
    let night = |night: usize| {
        json!({ "launch": format!("n{night}"), "version": format!("4.{night}"), "commit": "0a1b2c3",
                "at": format!("2026-02-0{night}T02:00:00Z") })
    };
    let second = json!({
        "known": true, "launches": 1, "passed": 1, "failed": 0, "skipped": 0, "flaky": 0, "flips": 0,
        "failing_since": null, "last_passed": night(1), "same_commit": { "passed": 1, "failed": 0 },
    });
    let third = json!({
        "known": true, "launches": 2, "passed": 1, "failed": 1, "skipped": 0, "flaky": 0, "flips": 1,
        "failing_since": night(2), "last_passed": night(1), "same_commit": { "passed": 1, "failed": 1 },
    });
    assert_eq!(histories[1..], [json!([second, true]), json!([third, true])]);
}
