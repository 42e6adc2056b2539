//! The time budget of a case (`thermal:`): a warning, a ceiling, and the time that counts.

use crate::harness::{CLOCK, Project, Ran};
use crate::shared::shared_json;
use serde_json::{Map, Value, json};

/// Walks nodes in a row with a clock that advances by this number of milliseconds at each reading, the duration of a step.
/// One of the nodes may lack an answer.
fn walk(project: &Project, thermal: &Value, nodes: usize, ms: u64, fails: Option<usize>) -> Ran {
    let name = |at: usize| if at == nodes { "_done".to_owned() } else { format!("n{at}") };
    let edge = |at: usize| json!({ "id": format!("e{at}"), "from": name(at), "to": name(at + 1) });
    let pipeline = json!({
        "pipeline": "row", "thermal": thermal, "start": "n0", "done": "_done",
        "nodes": (0..nodes).map(|at| json!({ "name": name(at) })).collect::<Vec<_>>(),
        "edges": (0..nodes).map(edge).collect::<Vec<_>>(),
    });
    let answers = (0..nodes).filter(|at| fails != Some(*at)).map(|at| (name(at), json!([{}])));
    project.file("row.yaml", pipeline.to_string());
    project.file("stub.json", json!({ "*": answers.collect::<Map<_, _>>() }).to_string());
    let words = "run row.yaml --input none --stub stub.json --parallel 1 --observe jsonl=events.jsonl --format json";
    let call = project.call(&words.split(' ').collect::<Vec<_>>()).env("ASTERISK_CLOCK", format!("{CLOCK}/{ms}"));
    std::fs::remove_file(project.root().join("events.jsonl")).unwrap_or_default();
    call.ran()
}

fn events(project: &Project, kind: &str) -> Vec<Value> {
    let events = project.read("events.jsonl");
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["type"] == kind).collect()
}

#[test]
fn every_decided_time_budget_holds() {
    let Some(file) = shared_json("vectors/walks.json") else { return };
    let vectors = file["thermal_budget"].as_array().unwrap();
    assert!(vectors.len() >= 5, "the file lost vectors");
    let project = Project::new();
    for vector in vectors {
        let exits = vector["exits_ms"].as_array().unwrap();
        let ms = |exit: &Value| exit.as_u64().or_else(|| exit["ms"].as_u64()).unwrap();
        let first = ms(&exits[0]);
        assert!(exits.iter().all(|exit| ms(exit) == first), "one pace per vector");
        let fails = exits.iter().position(|exit| exit["error"] == true);
        let thermal = json!({ "warning_ms": vector["warning_ms"], "ceiling_ms": vector["ceiling_ms"] });
        // One node more: a walk that is over cannot be ended.
        let ran = walk(&project, &thermal, exits.len() + 1, first, fails);
        let kind = ran.json()["cases"][0]["error"]["kind"].clone();
        let took = |event: &Value| event["took_ms"].as_u64().unwrap_or(0);
        let total: u64 = events(&project, "node_exit").iter().take(exits.len()).map(took).sum();
        let mut found =
            json!({ "warnings": events(&project, "thermal_warning").len(), "aborted": kind == "limit", "total_ms": total });
        #[allow(clippy::cast_precision_loss)]
        let seconds = total as f64 / 1000.0;
        found["cumulative_s"] = json!(seconds);
        for (key, value) in vector["expect"].as_object().unwrap() {
            assert_eq!(&found[key], value, "{} {key}: {found}\n{}", vector["id"], ran.text());
        }
    }
}

#[test]
fn a_slow_case_is_warned_then_ended() {
    let project = Project::new();
    let ran = walk(&project, &json!({ "warning_ms": 50, "ceiling_ms": 100 }), 5, 30, None).exits(4);
    insta::assert_snapshot!("stopped", ran.stderr);
    assert_eq!(ran.json()["cases"][0]["nodes"], json!(["n0", "n1", "n2", "n3"]));
    // Whatever the ceiling, there is one step; and the last one cannot be too late.
    let nodes = |ran: Ran| ran.json()["cases"][0]["nodes"].as_array().unwrap().len();
    assert_eq!(nodes(walk(&project, &json!({ "ceiling_ms": 0 }), 3, 1, None).exits(4)), 1);
    assert_eq!(nodes(walk(&project, &json!({ "ceiling_ms": 3 }), 3, 1, None).exits(0)), 3);
    // It is over, and says why whenever it is asked.
    let again = walk(&project, &json!({ "ceiling_ms": 2 }), 3, 1, None).exits(4).json();
    let resumed = project.asterisk(&["run", "--resume", again["run"].as_str().unwrap(), "--format", "json"]).exits(4);
    assert_eq!(resumed.json()["cases"], again["cases"]);
}
