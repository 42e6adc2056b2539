//! What names and other fields may be: invisible, long, many, secret.

use super::*;

fn junit(name: &str) -> String {
    format!(r#"<testcase classname="c" name="{name}"><failure message="boom"/></testcase>"#)
}

#[test]
fn names_that_cannot_be_seen_are_names() {
    let all = ["good", "\u{200b}", " ", "\u{feff}\u{202e}"].map(junit).concat().replace(r#"classname="c" "#, "");
    let launch = read(&text(&format!("<testsuite>{all}</testsuite>"))).unwrap();
    assert_eq!(ids(&launch), ["good", "(unnamed)", "(unnamed)#2", "(unnamed)#3"]);
    let items = ["\u{200b}", "x"].map(|name| format!(r#"{{"id": "i{name}", "name": "{name}", "status": "FAILED"}}"#)).join(",");
    let launch = read(&text(&format!(r#"{{"run_id": 1, "name": "\u200b", "failure_list": [{items}]}}"#))).unwrap();
    assert_eq!(ids(&launch), ["i", "ix"]);
    assert_eq!(launch.cases[0].name, "i");
}

#[test]
fn every_field_is_bounded_and_ids_stay_apart() {
    let long = "name ".repeat(300_000);
    let tests = [junit(&format!("{long}a")), junit(&format!("{long}b")), junit("short")].concat();
    let xml = format!(
        r#"<testsuite name="{long}" hostname="{long}"><properties><property name="{long}" value="{long}"/></properties>{tests}</testsuite>"#
    );
    let item = |end: &str| {
        format!(
            r#"{{"id": "{long}{end}", "name": "{long}", "status": "FAILED", "path": "{long}", "attributes": [{{"key": "{long}", "value": "{long}"}}], "error_message": "{long}", "log_snippet": "{long}"}}"#
        )
    };
    let json = format!(
        r#"{{"run_id": "{long}", "name": "{long}", "status": "{long}", "git": {{"branch": "{long}", "commit": "{long}", "remote": "{long}"}}, "failure_list": [{}, {}]}}"#,
        item("a"),
        item("b")
    );
    for source in [xml, json] {
        let launch = read(&text(&source)).unwrap();
        let mut seen = ids(&launch);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), launch.cases.len());
        let kept = serde_json::to_string(&launch).unwrap().len();
        assert!(kept < 120_000, "{kept} bytes are kept of {}", source.len());
    }
}

#[test]
fn notes_are_counted() {
    let mut merger = LaunchMerger::default();
    for number in 0..300 {
        let body = if number == 7 { junit("fails") } else { r#"<testcase name="passes"/>"#.to_owned() };
        let flaky = format!(r#"<testcase name="f{number}"><rerunFailure message="m"/></testcase>"#);
        merger.add(&text(&format!(r#"<testsuite name="s{number}">{body}{flaky}</testsuite>"#))).unwrap();
    }
    let launch = merger.finish();
    assert_eq!((launch.cases.len(), launch.notes.len()), (1, 50));
    assert!(launch.notes.last().unwrap().ends_with(" more notes"), "{:?}", launch.notes.last());
}

#[test]
fn no_field_keeps_a_secret() {
    let (token, password) = ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "hunter2hunter2");
    let field = format!("x {token} password={password}");
    let xml = format!(
        r#"<testsuites name="{field}"><testsuite name="{field}" hostname="{field}" package="{field}" file="{field}">
        <properties><property name="{field}" value="{field}"/><property name="DB_PASSWORD" value="{password}"/></properties>
        <testcase classname="{field}" name="{field}" file="{field}"><properties><property name="n" value="{field}"/></properties>
        <failure type="{field}" message="{field}">{field}</failure><system-out>{field}</system-out></testcase>
        <testcase name="{field} flaky"><rerunFailure message="{field}" type="{field}">{field}</rerunFailure></testcase>
        <testcase name="{field} passes"/></testsuite></testsuites>"#
    );
    let json = format!(
        r#"{{"run_id": "{field}", "name": "{field}", "status": "{field}", "attributes": {{"a": "{field}", "{field}": "x"}},
        "git": {{"branch": "{field}", "commit": "{field}", "remote": "https://u:{password}@h/r.git"}},
        "failure_list": [{{"id": "{field}", "name": "{field}", "status": "FAILED", "path": "{field}", "description": "{field}",
        "pathNames": {{"itemPaths": [{{"name": "{field}"}}]}}, "attributes": [{{"key": "{field}", "value": "{field}"}}, {{"value": "{field}"}}],
        "issue": {{"issueType": "{field}", "comment": "{field}"}}, "error_message": "{field}", "log_snippet": "{field}",
        "retries": [{{"error_message": "{field}"}}]}}]}}"#
    );
    let tap = format!(
        "TAP version 13\n# Subtest: {field}\n    not ok 1 - {field}\n      ---\n      message: {field}\n      ...\n    1..1\nnot ok 1 - {field}\n# {field}\n1..1\n"
    );
    let go = [("run", String::new()), ("output", format!(", \"Output\": \"{field}\\n\"")), ("fail", String::new())]
        .map(|(action, more)| format!(r#"{{"Action": "{action}", "Package": "{field}", "Test": "Test{field}"{more}}}"#))
        .join("\n");
    for source in [xml, json, tap, go] {
        let launch = read(&Source::new(&field, source)).unwrap();
        let shown = format!("{}{:?}", serde_json::to_string(&launch).unwrap(), launch.outcomes.names().collect::<Vec<_>>());
        assert!(!launch.cases.is_empty() && shown.contains("***"), "{shown}");
        assert!(!shown.contains(&token[4..]) && !shown.contains(password), "{shown}");
    }
}
