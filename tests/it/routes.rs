//! Every rule of the RCA pipeline and every promise about edges, from fixtures with expectations.
//!
//! `tests/fixtures/routes/NAME.jsonl` holds lines as `route --batch` takes them, with an additional `expect`: the expected result,
//! as printed, except that `considered` is written `EDGE OUTCOME` and `context_keys` names the context's keys only.
//! The pipeline is `NAME.yaml` next to it, or else the bundled one.

use crate::harness::{Project, fixture};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn every_fixture_has_the_expected_decision() {
    let mut complaints = Vec::new();
    let mut files = 0;
    for entry in fs::read_dir(fixture("routes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            files += 1;
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            complaints.extend(differences(&name).into_iter().map(|said| format!("{name}: {said}")));
        }
    }
    assert!(files >= 10);
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), complaints.join("\n"));
}

fn lines(name: &str) -> Vec<Map<String, Value>> {
    let text = fs::read_to_string(fixture(&format!("routes/{name}.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}\n{line}"))).collect()
}

fn differences(name: &str) -> Vec<String> {
    let (asked, expected): (Vec<Value>, Vec<Value>) = lines(name)
        .into_iter()
        .map(|mut line| {
            let expected = line.remove("expect").unwrap();
            (Value::Object(line), expected)
        })
        .unzip();
    let batch: Vec<String> = asked.iter().map(Value::to_string).collect();
    let project = Project::with(&[("batch.jsonl", &batch.join("\n"))]);
    let own = fixture(&format!("routes/{name}.yaml"));
    let pipeline = if own.is_file() { own.to_str().unwrap().to_owned() } else { "rca".to_owned() };
    let scripts = fixture("routes/scripts");
    let args = ["eval", "route", &pipeline, "--batch", "batch.jsonl", "--scripts", scripts.to_str().unwrap(), "--format", "json"];
    let ran = project.asterisk(&args);
    if ran.stdout.is_empty() {
        return vec![ran.text()];
    }
    let lost = expected.iter().any(|expected| expected.get("error").is_some());
    let routed = ran.exits(if lost { 4 } else { 0 }).json_lines();
    assert_eq!(routed.len(), asked.len());
    let mut complaints = Vec::new();
    for ((asked, expected), mut found) in asked.iter().zip(&expected).zip(routed) {
        assert_eq!(asked["id"], found["id"]);
        let considered =
            |entry: &Value| json!(format!("{} {}", entry["edge"].as_str().unwrap(), entry["outcome"].as_str().unwrap()));
        let list: Option<Vec<Value>> = found["considered"].as_array().map(|list| list.iter().map(considered).collect());
        found["considered"] = json!(list);
        found["context_keys"] = json!(found["context"].as_object().map(|context| context.keys().collect::<Vec<_>>()));
        for (key, value) in expected.as_object().unwrap() {
            if found.get(key) != Some(value) {
                complaints.push(format!("{}: {key} is {} instead of {value}", asked["id"], found[key]));
            }
        }
        if expected.get("error").is_none() && found.get("error").is_some() {
            complaints.push(format!("{}: {}", asked["id"], found["message"]));
        }
    }
    complaints
}

/// The fixtures cover every edge of the bundled pipeline, so that one added later gets its lines too.
#[test]
fn every_edge_of_the_bundled_pipeline_has_a_fixture() {
    let names = ["recall", "triage", "resolve", "investigate", "correlate", "court", "review", "report"];
    let mut taken = BTreeSet::new();
    for line in names.iter().flat_map(|name| lines(name)) {
        let expected = &line["expect"];
        let advisories = expected["advisories"].as_array().cloned().unwrap_or_default();
        taken.extend(advisories.iter().chain([&expected["edge"]]).filter_map(|edge| edge.as_str().map(str::to_owned)));
    }
    let yaml = fs::read_to_string(crate::harness::repository().join("pipelines/rca.yaml")).unwrap();
    let edges = yaml.split("\nedges:").nth(1).unwrap().split("\nverdict:").next().unwrap();
    let ids = edges.lines().filter_map(|line| {
        let (_, rest) = line.split_once("- { id: ").or_else(|| line.split_once("- id: "))?;
        Some(rest.split([',', ' ']).next()?.to_owned())
    });
    let ids: BTreeSet<String> = ids.collect();
    assert!(ids.len() >= 20, "{ids:?}");
    assert_eq!(ids.difference(&taken).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// One decision alone says the same as in a batch.
#[test]
fn a_single_decision_equals_a_batch() {
    let project = Project::with(&[("a.json", r#"{"n": 6}"#), ("s.json", r#"{"loops": {"again": 1}}"#)]);
    let pipeline = fixture("routes/engine.yaml");
    let scripts = fixture("routes/scripts");
    let (pipeline, scripts) = (pipeline.to_str().unwrap(), scripts.to_str().unwrap());
    let common = ["eval", "route", pipeline, "--scripts", scripts, "--format", "json"];
    let alone = |more: &[&str]| project.asterisk(&[&common, more].concat()).ok().json();
    assert_eq!(alone(&["--node", "order", "--artifact", "a.json"])["edge"], "second");
    assert_eq!(alone(&["--node", "order", "--artifact", "a.json", "--set", "limit=5"])["edge"], "first");
    assert_eq!(alone(&["--node", "counter", "--state", "s.json"])["loops"], json!({"again": 2}));
    assert_eq!(alone(&["--node", "quiet"])["to"], Value::Null);
    let read = project.asterisk_reading(&[&common[..], &["--node", "order", "--artifact", "-"]].concat(), "{\"n\": 11}").ok();
    assert_eq!(read.json()["edge"], "first");
}

const ROUND: &str = "
pipeline: round
max_steps: CAP
nodes: [{ name: a }, { name: b }, { name: c }]
edges:
  - { id: in, from: a, to: b }
  - { id: on, from: b, to: c }
  - { id: back, from: c, to: b, loop: true, counter: turns, condition: \"state.loops.turns < 40\" }
  - { id: out, from: c, to: _done }
start: a
done: _done
";

/// The error at the cap names the loop, the counters and the edges; 0 disables the cap (`docs/decisions/0008-routing-and-step-cap.md`).
#[test]
fn the_step_cap_names_the_loop() {
    let project = Project::new();
    let answers: Vec<Value> = (0..60).map(|_| json!({})).collect();
    project.file("stub.json", json!({ "*": { "a": answers, "b": answers, "c": answers } }).to_string());
    let run = |cap: &str| {
        project.file("round.yaml", ROUND.replace("CAP", cap));
        project.asterisk(&["run", "round.yaml", "--input", "none", "--stub", "stub.json", "--format", "json", "--files", "never"])
    };
    let capped = run("9").exits(4);
    let case = &capped.json()["cases"][0];
    assert_eq!(case["error"]["kind"], "max_steps");
    assert_eq!(case["nodes"].as_array().unwrap().len(), 9);
    assert_eq!(case["loops"], json!({"turns": 4}));
    for word in ["b -> c by on, back", "turns = 4", "9 steps"] {
        assert!(capped.stderr.contains(word), "{word}: {}", capped.text());
    }
    let free = run("0").ok();
    assert_eq!(free.json()["cases"][0]["loops"], json!({"turns": 40}));
    assert_eq!(free.json()["cases"][0]["status"], "done");
}

/// Decision 42: the case stays at review.
#[test]
fn a_walk_with_an_unknown_target_does_not_move() {
    let stub = json!({ "*": {
        "recall": [{ "match": true, "confidence": 0.9 }],
        "review": [{ "decision": "reassess", "loop_target": "F7" }],
    } });
    let project = Project::with(&[("stub.json", &stub.to_string())]);
    let ran = project.asterisk(&["run", "--input", "none", "--stub", "stub.json", "--format", "json"]).exits(4);
    let run = ran.json();
    let case = &run["cases"][0];
    assert_eq!(case["error"]["kind"], "node_not_found");
    assert_eq!(case["error"]["node"], "review");
    assert_eq!(case["nodes"], json!(["recall", "review"]));
    assert_eq!(case["edges"], json!(["H1"]));
    assert!(ran.stderr.contains("F7"), "{}", ran.text());
    let state = project.read(&format!(".asterisk/investigations/{}/case-1/state.json", run["run"].as_str().unwrap()));
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!((&state["current_step"], &state["status"]), (&json!("F5_REVIEW"), &json!("error")));
}
