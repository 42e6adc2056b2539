//! `run --shadow`: candidate rules are evaluated next to those of a run, recorded and reported, and do not change it.

use crate::harness::Project;
use serde_json::{Value, json};

const PIPELINE: &str = "\
pipeline: t
vars: { bar: 5 }
nodes:
  - { name: a, schema: { n: int } }
  - { name: b, schema: { n: int } }
edges:
  - { id: A, from: a, to: b, rule: \"t.rhai#far\" }
  - { id: A2, from: a, to: _done }
  - { id: B, from: b, to: _done }
start: a
done: _done
";

/// Two cases by live rules that fire from 5 on.
fn project(candidate: &str) -> Project {
    let failures = json!([{ "id": "x", "name": "x", "status": "FAILED" }, { "id": "y", "name": "y", "status": "FAILED" }]);
    let answers = json!({ "x": { "a": [{ "n": 7 }], "b": [{ "n": 1 }] }, "y": { "a": [{ "n": 3 }] } });
    Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("scripts/t.rhai", "fn far(artifact, state, vars) { artifact.n >= vars.bar }\n"),
        ("new/t.rhai", candidate),
        ("pipelines/t.yaml", PIPELINE),
        ("launch.json", &json!({ "run_id": "1", "name": "l", "failure_list": failures }).to_string()),
        ("stub.json", &answers.to_string()),
    ])
}

const RUN: [&str; 7] = ["run", "t", "--input", "launch.json", "--stub", "stub.json", "--shadow"];
const FARTHER: &str = "/// Farther.\nfn far(artifact, state, vars) { artifact.n >= vars.bar + 3 }\n";

/// The event log, case by case, without the numbers of its lines and without shadows.
fn log(project: &Project) -> Vec<Value> {
    let run = project.asterisk(&["status", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned();
    let lines = project.read(&format!(".asterisk/investigations/{run}/events.jsonl"));
    let mut events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.retain(|event| event["type"] != "shadow");
    for event in &mut events {
        event["seq"] = Value::Null;
    }
    // Cases that walk at once write in any order.
    events.sort_by_key(|event| event["case"].to_string());
    events
}

#[test]
fn candidates_overlay_the_scripts_of_the_project() {
    let project = project("import \"lib/own\" as own;\nfn far(artifact, state, vars) { artifact.n >= own::bar(vars) }\n");
    project.file("scripts/lib/own.rhai", "/// The bar.\nfn bar(vars) { vars.bar + 3 }\n");
    let ran = project.asterisk(&[&RUN[..], &["new"]].concat()).exits(0);
    assert!(ran.stderr.contains("shadow: 1 of 3 decisions would differ"), "{}", ran.text());
}

#[test]
fn a_run_reports_the_decisions_of_the_candidates() {
    let project = project(FARTHER);
    insta::assert_snapshot!(project.asterisk(&[&RUN[..], &["new", "--parallel", "1"]].concat()).text());
    insta::assert_snapshot!("shadow_events", {
        let run = project.asterisk(&["status", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned();
        let log = project.read(&format!(".asterisk/investigations/{run}/events.jsonl"));
        log.lines().filter(|line| line.contains("\"type\":\"shadow\"")).collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn the_run_is_the_same_without_it() {
    let with = project(FARTHER);
    with.asterisk(&[&RUN[..], &["new", "--parallel", "4"]].concat()).exits(0);
    let without = project(FARTHER);
    without.asterisk(&[&RUN[..6], &["--parallel", "1"]].concat()).ok();
    assert_eq!(log(&with), log(&without));
}

#[test]
fn errors_in_candidates_never_affect_the_run() {
    for (candidate, said) in [
        ("fn far(artifact, state, vars) { throw \"no\" }", "shadow: 2 of 3 decisions would differ: 2 would fail\n"),
        ("fn far(artifact, state, vars) { loop { } }", "shadow: 2 of 3 decisions would differ: 2 would fail\n"),
        ("fn far(artifact, state, vars) { #{ to: \"a\" } }", "shadow: 2 of 3 decisions would differ: 2 would fail\n"),
    ] {
        let ran = project(candidate).asterisk(&[&RUN[..], &["new"]].concat()).exits(0);
        assert_eq!(ran.stderr, said, "{candidate}");
    }
}

#[test]
fn candidates_that_do_not_link_are_rejected_before_any_walk() {
    let project = project("fn far(artifact, state, vars) { artifact.n >= vars.bra }");
    insta::assert_snapshot!(project.asterisk(&[&RUN[..], &["new"]].concat()).exits(3).text());
    assert_eq!(project.asterisk(&["status"]).exits(0).stdout.lines().filter(|line| line.contains(" t ")).count(), 0);
}

#[test]
fn a_resumed_run_keeps_its_candidates() {
    let project = project(FARTHER);
    project.asterisk(&[&RUN[..], &["new"]].concat()).exits(0);
    project.file("new/t.rhai", "nonsense");
    let again = project.asterisk(&["run", "--resume", "latest", "--format", "json"]).exits(0);
    assert_eq!(again.json()["shadow"], json!({ "decisions": 3, "differ": 1, "by": { "A2": 1 } }));
}

#[test]
fn verdicts_of_candidate_rules_are_compared() {
    let rule = |strength: &str| {
        format!("/// Always.\nfn own(evidence, context, vars) {{ #{{ strength: {strength}, because: \"x\" }} }}\n")
    };
    let project = Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        (
            "pipelines/rca.yaml",
            "extends: rca\nverdict:\n  rules:\n    - { id: V90, name: own, for: { fw001: 19 }, rule: \"verdicts/own.rhai#own\" }\n",
        ),
        ("scripts/verdicts/own.rhai", &rule("0.0")),
        ("new/verdicts/own.rhai", &rule("1.0")),
    ]);
    let ran = project.asterisk(&["run", "--shadow", "new", "--files", "never", "--format", "json"]).exits(0);
    assert!(ran.stderr.contains("verdicts would name another defect: ") && ran.stderr.contains("fw001"), "{}", ran.text());
    let shadow = &ran.json()["shadow"];
    assert_eq!(shadow["verdicts"], shadow["verdicts_by"]["fw001"], "{shadow}");
}
