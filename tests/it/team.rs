//! Teams: who takes a step, what of it is recorded, and what schedulers and masks of one's own may do.

use crate::harness::{Project, strings};
use crate::shared::shared_json;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The events of the only run of a project, in order.
fn events(project: &Project) -> Vec<Value> {
    let runs = std::fs::read_dir(project.root().join(".asterisk/investigations")).unwrap();
    let dirs: Vec<PathBuf> = runs.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(dirs.len(), 1, "{dirs:?}");
    let text = std::fs::read_to_string(dirs[0].join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).filter(|word| *word != "barrier").collect()
}

/// Walks a pipeline with an empty answer to every node.
fn walked(pipeline: &Value, args: &[&str]) -> (Project, crate::harness::Ran) {
    let project = Project::with(&[("t.yaml", &pipeline.to_string())]);
    let nodes = pipeline["nodes"].as_array().unwrap();
    let answers: serde_json::Map<String, Value> =
        nodes.iter().map(|node| (node["name"].as_str().unwrap().to_owned(), json!(vec![json!({}); 70]))).collect();
    project.file("stub.json", json!({ "*": answers }).to_string());
    let words = ["run", "t.yaml", "--input", "none", "--stub", "stub.json", "--format", "json"];
    let ran = project.asterisk(&[&words, args].concat());
    (project, ran)
}

fn pipeline(vector: &Value) -> Value {
    let edge = |edge: &Value| json!({ "id": edge["id"], "from": edge["from"], "to": edge["to"] });
    let walker = |walker: &Value| {
        let mut own = json!({ "name": walker["persona"] });
        if let Some(element) = walker["element"].as_str() {
            own["element"] = json!(element);
        }
        if !walker["affinity"].is_null() {
            own["affinities"] = walker["affinity"].clone();
        }
        own
    };
    let list = |key: &str| vector[key].as_array().unwrap().iter();
    let edges: Vec<Value> = list("edges").map(edge).collect();
    let start = vector["start"].as_str().or_else(|| vector["nodes"][0]["name"].as_str());
    let mut made = json!({ "pipeline": "t", "nodes": vector["nodes"], "edges": edges, "start": start, "done": "_done" });
    if !vector["scheduler"].is_null() || vector["walkers"].as_array().unwrap().is_empty() {
        let scheduler = format!("schedulers/{}.rhai", vector["scheduler"].as_str().unwrap_or("affinity"));
        made["team"] = json!({ "walkers": list("walkers").map(walker).collect::<Vec<_>>(), "scheduler": scheduler });
    }
    made
}

#[test]
fn teams_walk_as_decided() {
    let Some(file) = shared_json("vectors/walks.json") else { return };
    let vectors = file["team"].as_array().unwrap();
    assert!(vectors.len() >= 5, "the file lost vectors");
    for vector in vectors {
        let id = vector["id"].as_str().unwrap();
        let (project, ran) = walked(&pipeline(vector), &["--files", "always"]);
        let expect = &vector["expect"];
        if let Some(error) = expect["error"].as_str() {
            let word = if error == "no_walkers" { "pipeline/no-walkers" } else { "pipeline/" };
            assert!(ran.code == Some(3) && ran.stderr.contains(word), "{id}: {}", ran.text());
            continue;
        }
        assert_eq!(ran.code, Some(0), "{id}: {}", ran.text());
        let events = events(&project);
        let types = types(&events);
        let count = |word: &str| types.iter().filter(|found| **found == word).count();
        for (key, word) in [
            ("walker_switch_events", "walker_switch"),
            ("node_enter_events", "node_enter"),
            ("walk_complete_events", "walk_complete"),
        ] {
            if let Some(wanted) = expect[key].as_u64() {
                assert_eq!(count(word) as u64, wanted, "{id}: {types:?}");
            }
        }
        if !expect["assignments"].is_null() {
            let taken: Vec<&str> =
                events.iter().filter(|event| event["type"] == "walker_switch").filter_map(|event| event["to"].as_str()).collect();
            assert_eq!(taken, strings(&expect["assignments"]), "{id}");
        }
        if !expect["event_sequence"].is_null() {
            assert_eq!(types, strings(&expect["event_sequence"]), "{id}");
        }
    }
}

/// Two nodes in turn, until the cap.
fn endless(team: Value) -> Value {
    json!({
        "pipeline": "t", "nodes": [{ "name": "a" }, { "name": "b" }], "start": "a", "done": "_done", "team": team,
        "edges": [{ "id": "E1", "from": "a", "to": "b" }, { "id": "E2", "from": "b", "to": "a", "loop": true }],
    })
}

#[test]
fn a_team_walks_64_steps_unless_it_says_more() {
    let team = json!({ "walkers": ["Herald"], "scheduler": "schedulers/single.rhai" });
    for (team, steps) in
        [(team.clone(), 64), (json!({ "walkers": ["Herald"], "scheduler": "schedulers/single.rhai", "max_steps": 5 }), 5)]
    {
        let (_, ran) = walked(&endless(team), &[]);
        let case = &ran.json()["cases"][0];
        assert_eq!(case["nodes"].as_array().unwrap().len(), steps);
        assert_eq!(case["error"]["kind"], "max_steps");
    }
}

const TWO: &str = "\
pipeline: t
nodes:
  - { name: a, element: fire, schema: { n?: int } }
  - { name: b }
edges:
  - { id: E1, from: a, to: b, condition: 'state.walker.name == \"Herald\" && state.walker.traits.evidence_depth == 2' }
  - { id: E2, from: b, to: _done, condition: 'state.handoffs == 1 && state.walker.name == \"Scout\"' }
start: a
done: _done
team:
  walkers: [Herald, { name: Scout, element: air, home: Paint, stickiness: 1, affinities: { b: 0.5 }, preamble: Look around. }]
  scheduler: schedulers/affinity.rhai
";

fn two() -> Project {
    Project::with(&[("t.yaml", TWO), ("stub.json", "{\"*\": {\"a\": [{}], \"b\": [{}]}}")])
}

const RUN: [&str; 6] = ["run", "t.yaml", "--input", "none", "--stub", "stub.json"];

#[test]
fn rules_see_who_walks_and_explain_says_why() {
    let project = two();
    project.asterisk(&RUN).exits(0);
    insta::assert_snapshot!(
        "explained",
        project.asterisk(&["explain", "latest", "--case", "case-1"]).ok().text().replace(&run_id(&project), "RUN")
    );
    let told = project.asterisk(&["explain", "latest", "--case", "case-1", "--format", "json"]).ok().json();
    assert_eq!(told["steps"][1]["walker"], json!({ "name": "Scout", "because": "affinity 0.5 for b" }));
}

fn run_id(project: &Project) -> String {
    project.asterisk(&["runs", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn another_scheduler_decides_again() {
    let project = two();
    project.asterisk(&RUN).exits(0);
    let same = project.asterisk(&["replay", "--format", "json"]).exits(0).json();
    assert_eq!(same["flips"], json!([]));
    // Herald takes both steps: no handoff, and no edge of b fires.
    project.file("new/schedulers/affinity.rhai", "/// One.\nfn select(ctx) { ctx.walkers[0].name }\n");
    let other = project.asterisk(&["replay", "--scripts", "new", "--format", "json"]).json();
    assert_eq!(other["flips"][0]["node"], "b", "{other}");
}

#[test]
fn what_is_wrong_with_a_team_is_said_where_it_is() {
    let broken = |from: &str, to: &str| {
        let project = Project::with(&[("t.yaml", &TWO.replace(from, to)), ("stub.json", "{}")]);
        project.asterisk(&RUN).exits(3).text()
    };
    let all = [
        broken("[Herald,", "[Herold,"),
        broken("[Herald,", "[herald,"),
        broken("element: air", "element: ayr"),
        broken("stickiness: 1", "stickiness: 7"),
        broken("name: Scout", "name: Herald"),
        broken("affinity.rhai", "affinty.rhai"),
        broken("scheduler: ", "schedule: "),
    ];
    insta::assert_snapshot!("wrong", all.join("\n"));
}

#[test]
fn a_scheduler_that_errs_stops_the_walk() {
    let chooses = |body: &str| {
        let project = two();
        project.file("scripts/schedulers/affinity.rhai", format!("/// One.\nfn select(ctx) {{ {body} }}\n"));
        project.asterisk(&[&RUN[..], &["--scripts", "scripts", "--dry-run"]].concat()).exits(4).text()
    };
    let all = ["\"Herold\"", "()", "ctx.walkers[9].name", "throw \"no\""].map(chooses).join("\n");
    insta::assert_snapshot!("scheduler", all);
}
