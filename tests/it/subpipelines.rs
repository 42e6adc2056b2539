//! Subpipelines: their input, their result, and that nothing is lost if they are interrupted.

use crate::harness::Project;
use serde_json::{Value, json};

const WHOLE: &str = "\
pipeline: whole
description: a walk with another in it
vars: { most: 1, patience: 3, low: 0.5 }
nodes:
  - { name: look, confidence: sure, schema: { sure: number } }
  - { name: hear, pipeline: inner, confidence: sure, schema: { sure: number, word?: string } }
  - { name: say }
edges:
  - { id: W1, from: look, to: hear, context: { asked: twice } }
  - { id: W2, from: hear, to: look, loop: true, counter: again, condition: \"sure < vars.low && state.loops.again < vars.most\" }
  - { id: W3, from: hear, to: say }
  - { id: W4, from: say, to: _done }
start: look
done: _done
";

const INNER: &str = "\
pipeline: inner
description: what is walked as a node
vars: { patience: 3, enough: 2 }
counters: [again]
nodes:
  - { name: ask, schema: { n: int } }
  - { name: judge, confidence: sure, schema: { sure: number, word: string } }
edges:
  - { id: I1, from: ask, to: ask, loop: true, condition: \"n < vars.enough && state.loops.again == 0\", context: { heard: some } }
  - { id: I2, from: ask, to: judge, rule: \"rules/inner.rhai#told\" }
  - { id: I3, from: judge, to: _done }
start: ask
done: _done
";

const RULES: &str = "\
/// Always, with what the walk around it said.
fn told(artifact, state, vars) {
    #{ because: `${state.context.asked}, patience ${vars.patience}, confidence ${state.confidence}` }
}
";

pub(crate) fn project() -> Project {
    let stub = json!({ "*": {
        "look": [{ "sure": 0.3 }, { "sure": 0.4 }],
        "ask": [{ "n": 1 }, { "n": 2 }, { "n": 1 }],
        "judge": [{ "sure": 0.2, "word": "no" }, { "sure": 0.9, "word": "yes" }],
        "say": [{}],
    } });
    Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("pipelines/whole.yaml", WHOLE),
        ("pipelines/inner.yaml", INNER),
        ("scripts/rules/inner.rhai", RULES),
        ("stub.json", &stub.to_string()),
    ])
}

pub(crate) const RUN: [&str; 11] =
    ["run", "whole", "--input", "none", "--stub", "stub.json", "--parallel", "1", "--files", "always", "--format=json"];

#[test]
fn a_subpipeline_node_has_the_last_artifact_of_its_walk() {
    let project = project();
    let ran = project.asterisk(&RUN).ok().json();
    let case = &ran["cases"][0];
    assert_eq!(case["nodes"], json!(["look", "hear", "look", "hear", "say"]), "{case}");
    assert_eq!(case["edges"], json!(["W1", "W2", "W1", "W3", "W4"]));
    assert_eq!(case["loops"], json!({ "again": 1 }), "the inner walk counts separately");
    assert_eq!(case["context"], json!({ "asked": "twice" }));
    let explained = project.asterisk(&["explain", "latest"]).ok();
    insta::assert_snapshot!("parts_explained", explained.text());
    insta::assert_snapshot!("parts_step", project.asterisk(&["explain", "latest", "--step", "2/hear/3"]).ok().text());
    let run = ran["run"].as_str().unwrap();
    let below = |name: &str| project.read(&format!(".asterisk/investigations/{run}/case-1/{name}"));
    assert_eq!(serde_json::from_str::<Value>(&below("4/hear/judge.json")).unwrap()["word"], "yes");
    assert_eq!(serde_json::from_str::<Value>(&below("hear.json")).unwrap()["word"], "yes");
    let events: Vec<Value> = project
        .read(&format!(".asterisk/investigations/{run}/events.jsonl"))
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let summary: Vec<String> = events
        .iter()
        .filter(|event| ["node_enter", "sub_walk", "node_exit", "walk_complete"].contains(&event["type"].as_str().unwrap()))
        .map(|event| format!("{} {}", event["path"].as_str().unwrap(), event["type"].as_str().unwrap()))
        .collect();
    insta::assert_snapshot!("parts_events", summary.join("\n"));
}

#[test]
fn decisions_in_a_subpipeline_are_explained_counted_tested_and_inspected() {
    let project = project();
    project.asterisk(&RUN).ok();
    let blamed = project.asterisk(&["explain", "latest", "--step", "2/hear/2", "--blame"]).ok();
    assert!(blamed.stdout.contains("rules/inner.rhai:3"), "{}", blamed.text());
    let coverage = project.asterisk(&["coverage", "latest"]).ok();
    insta::assert_snapshot!("parts_coverage", coverage.text());
    let saved = project.asterisk(&["explain", "latest", "--step", "2/hear/1", "--save-as-test", "kept_test.rhai"]).exits(0);
    assert!(saved.stdout.contains("pipeline: \"inner\""), "{}", saved.text());
    project.asterisk(&["test", "kept_test.rhai"]).ok();
    let lines = ":steps\n:at 2/hear/2\n:why\nartifact.n\n:set patience=9\n:next\n:save-as-test two_test.rhai\n";
    let session = project.asterisk_reading(&["repl", "--run", "latest"], lines);
    insta::assert_snapshot!("parts_repl", session.text());
    project.asterisk(&["test", "two_test.rhai"]).ok();
    project.asterisk(&["lint"]).exits(0);
}

#[test]
fn vars_of_a_subpipeline_can_be_set_and_unknown_vars_cannot() {
    let project = project();
    let run = |set: &str| project.asterisk(&[&RUN[..], &["--set", set]].concat());
    let explained = |set: &str| {
        run(set).ok();
        project.asterisk(&["explain", "latest"]).ok().stdout
    };
    assert!(explained("patience=7").contains("patience 7"));
    assert!(explained("enough=1").contains("2/hear/1 ask -> judge"), "{}", explained("enough=1"));
    let refused = run("enuogh=1").exits(2);
    assert!(refused.stderr.contains("did you mean `enough`?"), "{}", refused.text());
}

#[test]
fn a_subpipeline_inherits_vars_and_overrides_take_precedence() {
    let project = project();
    project.file("pipelines/whole.yaml", WHOLE.replace("patience: 3", "patience: 7"));
    let explained = |more: &[&str]| {
        project.asterisk(&[&RUN[..], more].concat()).ok();
        project.asterisk(&["explain", "latest"]).ok().stdout
    };
    assert!(explained(&[]).contains("patience 7"), "{}", explained(&[]));
    assert!(explained(&["--set", "patience=9"]).contains("patience 9"));
}

#[test]
fn a_failure_in_a_subpipeline_fails_the_walk() {
    let project = project();
    project.file(
        "pipelines/inner.yaml",
        INNER.replace(
            "  - { id: I3, from: judge, to: _done }\n",
            "  - { id: I3, from: judge, to: _done, condition: \"sure > 1.0\" }\n",
        ),
    );
    let ran = project.asterisk(&RUN).exits(4);
    let case = &ran.json()["cases"][0];
    assert_eq!(
        (&case["status"], &case["error"]["kind"], &case["error"]["node"]),
        (&json!("error"), &json!("no_edge"), &json!("hear")),
        "{case}"
    );
    let runs = project.asterisk(&["status", "latest", "--format", "json"]);
    assert!(runs.text().contains("error"), "{}", runs.text());
    insta::assert_snapshot!("parts_failed", project.asterisk(&["explain", "latest"]).text());
}

#[test]
fn invalid_subpipelines_are_rejected_where_they_are_named() {
    let project = project();
    let mut said = String::new();
    for (file, text) in [
        ("whole", WHOLE.replace("pipeline: inner", "pipeline: iner")),
        ("whole", WHOLE.replace("pipeline: inner,", "pipeline: inner, script: x.rhai#y,")),
        ("inner", INNER.replace("{ name: ask,", "{ name: ask, pipeline: whole,")),
        ("inner", INNER.replace("start: ask", "start: aks")),
    ] {
        project.file("pipelines/whole.yaml", WHOLE);
        project.file("pipelines/inner.yaml", INNER);
        project.file(&format!("pipelines/{file}.yaml"), text);
        said.push_str(&project.asterisk(&RUN).exits(3).text());
    }
    insta::assert_snapshot!("parts_refused", said);
}

#[test]
fn replay_covers_subpipelines() {
    let project = project();
    project.asterisk(&RUN).ok();
    let replay = |set| format!("--- {set}\n{}", project.asterisk(&["replay", "latest", "--set", set]).exits(0).text());
    let said: String = ["enough=2", "enough=1", "enough=9", "low=0.1", "most=9", "patience=7"].map(replay).concat();
    insta::assert_snapshot!("parts_replayed", said);
}
