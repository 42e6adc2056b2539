//! Routing, walks and validation, compared with external vectors. Each has the `decided` outcome.

use crate::harness::Project;
use crate::shared::shared_json;
use serde_json::{Map, Value, json};

/// Whether the result has every key of the decision.
fn agrees(found: &Value, decided: &Value) -> bool {
    decided.as_object().unwrap().iter().all(|(key, value)| found.get(key) == Some(value))
}

/// All complaints at once say more than the first.
#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_rca_decision_is_the_decided_one() {
    let Some(file) = shared_json("vectors/rca_routes.json") else { return };
    let vectors = file["vectors"].as_array().unwrap();
    assert!(vectors.len() >= 38, "the file lost vectors");
    let line = |vector: &Value| {
        let keys = ["id", "node", "artifact", "state", "vars"];
        json!(keys.map(|key| (key.to_owned(), vector[key].clone())).into_iter().collect::<Map<_, _>>()).to_string()
    };
    let batch: Vec<String> = vectors.iter().map(line).collect();
    let project = Project::with(&[("batch.jsonl", &batch.join("\n"))]);
    let args = ["eval", "route", "rca-investigation", "--batch", "batch.jsonl", "--format", "json"];
    let routed = project.asterisk(&args).exits(4).json_lines();
    assert_eq!(routed.len(), vectors.len());
    let mut complaints = Vec::new();
    for (vector, found) in vectors.iter().zip(&routed) {
        assert_eq!(vector["id"], found["id"]);
        if !agrees(found, &vector["decided"]) {
            complaints.push(format!("{}: decided {}, found {found}", vector["id"], vector["decided"]));
        }
    }
    none(&complaints);
}

#[test]
fn every_rca_walk_takes_the_decided_path() {
    let Some(file) = shared_json("vectors/walks.json") else { return };
    let walks = file["rca"].as_array().unwrap();
    assert!(walks.len() >= 11, "the file lost walks");
    let project = Project::new();
    let mut complaints = Vec::new();
    for walk in walks {
        let mut stub: Map<String, Value> = Map::new();
        for visit in walk["visits"].as_array().unwrap() {
            let answers = stub.entry(visit["node"].as_str().unwrap()).or_insert_with(|| json!([]));
            answers.as_array_mut().unwrap().push(visit["artifact"].clone());
        }
        project.file("stub.json", json!({ "*": stub }).to_string());
        let words = "run rca-investigation --input none --stub stub.json --format json --files never";
        let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
        for (name, value) in walk["vars"].as_object().unwrap() {
            args.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        let ran = project.asterisk(&args);
        let case = if ran.stdout.is_empty() { Value::Null } else { ran.json()["cases"][0].clone() };
        let found = json!({
            "node_path": case["nodes"], "edge_path": case["edges"], "loop_counts": case["loops"], "status": case["status"],
        });
        if ran.code != Some(0) || !agrees(&found, &walk["decided"]) {
            complaints.push(format!("{}: decided {}, found {found}\n{}", walk["id"], walk["decided"], ran.stderr));
        }
    }
    none(&complaints);
}

#[test]
fn every_framework_walk_takes_the_decided_path() {
    let Some(file) = shared_json("vectors/walks.json") else { return };
    let project = Project::new();
    let mut complaints = Vec::new();
    let mut walked = 0;
    for walk in file["framework"].as_array().unwrap().iter().filter(|walk| !walk["decided"].is_null()) {
        walked += 1;
        // JSON is YAML.
        project.file("walk.yaml", framework_pipeline(walk).to_string());
        let answers = |node: &Value| {
            let name = node.as_str().unwrap();
            (name.to_owned(), walk["artifacts"].get(name).cloned().unwrap_or_else(|| json!([{}])))
        };
        let answers: Map<String, Value> = walk["nodes"].as_array().unwrap().iter().map(answers).collect();
        project.file("stub.json", json!({ "*": answers }).to_string());
        let ran = project.asterisk(&["run", "walk.yaml", "--input", "none", "--stub", "stub.json", "--format", "json"]);
        let decided = &walk["decided"];
        let good = if let Some(error) = decided.get("build_error") {
            assert_eq!(error, "node_not_found");
            ran.code == Some(3) && ran.stdout.is_empty() && ran.stderr.contains("is not a node")
        } else {
            let case = &ran.json()["cases"][0];
            let mut found = json!({
                "node_path": case["nodes"], "edge_path": case["edges"], "status": case["status"], "context": case["context"],
                "history_len": case["edges"].as_array().unwrap().len(),
            });
            if let Some(error) = case.get("error") {
                (found["error"], found["at_node"]) = (error["kind"].clone(), error["node"].clone());
            }
            let code = if decided["status"] == "done" { 0 } else { 4 };
            ran.code == Some(code) && agrees(&found, decided)
        };
        if !good {
            complaints.push(format!("{}: decided {decided}, found {}", walk["id"], ran.text()));
        }
    }
    none(&complaints);
    assert!(walked >= 5, "the file lost walks");
}

fn framework_pipeline(walk: &Value) -> Value {
    let nodes: Vec<Value> = walk["nodes"].as_array().unwrap().iter().map(|name| json!({ "name": name })).collect();
    let edge = |edge: &Value| {
        let mut out = json!({ "id": edge["id"], "from": edge["from"], "to": edge["to"] });
        let when = edge["when"].as_str().unwrap();
        if when != "true" {
            out["condition"] = json!(when.replace("output.", "artifact."));
        }
        for (theirs, ours) in [("adds", "context"), ("shortcut", "shortcut")] {
            if let Some(value) = edge.get(theirs) {
                out[ours] = value.clone();
            }
        }
        out
    };
    let edges: Vec<Value> = walk["edges"].as_array().unwrap().iter().map(edge).collect();
    json!({ "pipeline": "t", "nodes": nodes, "edges": edges, "start": nodes[0]["name"], "done": "_done" })
}

#[test]
fn graphs_are_accepted_and_rejected_as_decided() {
    let Some(file) = shared_json("vectors/dsl_validation.json") else { return };
    let vectors = file["validate"].as_array().unwrap();
    assert!(vectors.len() >= 19, "the file lost vectors");
    let project = Project::new();
    let mut complaints = Vec::new();
    for vector in vectors {
        project.file("pipeline.yaml", vector["yaml"].as_str().unwrap());
        let ran = project.asterisk(&["graph", "pipeline.yaml", "--format", "mermaid"]);
        let decided = &vector["decided"];
        let mentions = decided["must_mention"].as_array().cloned().unwrap_or_default();
        let good = if decided["valid"] == true {
            ran.code == Some(0) && ran.stdout.starts_with("flowchart")
        } else {
            let says = |word: &Value| ran.stderr.contains(word.as_str().unwrap());
            ran.code == Some(3) && ran.stdout.is_empty() && ran.stderr.contains("pipeline.yaml:") && mentions.iter().all(says)
        };
        if !good {
            complaints.push(format!("{}: decided {decided}, found {}", vector["id"], ran.text()));
        }
    }
    none(&complaints);
}

/// What a script function returns for each list of arguments.
fn calls(project: &Project, function: &str, args: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = args.iter().map(|args| json!({ "args": args }).to_string()).collect();
    project.file("calls.jsonl", lines.join("\n"));
    let reference = format!("lib/metrics.rhai#{function}");
    let answered = project.asterisk(&["eval", "call", &reference, "--batch", "calls.jsonl"]).exits(0).json_lines();
    assert_eq!(answered.len(), args.len());
    answered.into_iter().map(|line| line["result"].clone()).collect()
}

/// Whether two values are the same, numbers to nine digits.
fn near(found: &Value, wanted: &Value) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-9,
        _ => match (found, wanted) {
            (Value::Object(found), Value::Object(wanted)) => {
                wanted.iter().all(|(key, value)| found.get(key).is_some_and(|found| near(found, value)))
            }
            _ => found == wanted,
        },
    }
}

#[test]
fn every_number_of_the_metrics_is_the_decided_one() {
    let Some(file) = shared_json("vectors/metrics.json") else { return };
    let project = Project::new();
    let mut complaints = Vec::new();
    for (function, keys, gives) in [
        ("pearson", &["x", "y"][..], "expect"),
        ("keyword_match", &["text", "keywords"], "expect"),
        ("evidence_overlap", &["actual", "expected"], ""),
        ("paths_equal", &["a", "b"], "expect"),
        ("sample_stddev", &["values"], "expect"),
        ("smoking_gun_words", &["phrase"], "expect"),
        ("safe_div", &["num", "den"], "expect"),
    ] {
        let vectors = file["numeric"][function].as_array().unwrap();
        assert!(vectors.len() >= 4, "the file lost vectors of {function}");
        let args: Vec<Value> = vectors.iter().map(|vector| keys.iter().map(|key| vector[*key].clone()).collect()).collect();
        for (vector, found) in vectors.iter().zip(calls(&project, function, &args)) {
            let wanted = if gives.is_empty() {
                json!({ "found": vector["found"], "total": vector["total"] })
            } else {
                vector[gives].clone()
            };
            if !near(&found, &wanted) {
                complaints.push(format!("{function} {vector}: found {found}"));
            }
        }
    }
    let court: Vec<Value> = file["court"].as_array().unwrap().clone();
    let args: Vec<Value> = court.iter().map(|vector| json!([vector["results"], vector["ground_truth"]])).collect();
    for (vector, found) in court.iter().zip(calls(&project, "court", &args)) {
        if !near(&found, &vector["expect"]) {
            complaints.push(format!("court {}: found {found}", vector["id"]));
        }
    }
    let runs = file["aggregate"].as_array().unwrap();
    let args: Vec<Value> = runs.iter().map(|vector| json!([vector["runs"]])).collect();
    for (vector, found) in runs.iter().zip(calls(&project, "aggregate", &args)) {
        for (id, wanted) in vector["expect"].as_object().unwrap() {
            if !near(&found[id], &wanted["value"]) {
                complaints.push(format!("aggregate {id}: wanted {wanted}, found {}", found[id]));
            }
        }
    }
    none(&complaints);
}

/// A metric that is not applicable is neither passed nor failed, and a value at its threshold passes: deliberately not what the file
/// expects.
#[test]
fn every_metric_is_the_decided_one() {
    let Some(file) = shared_json("vectors/metrics.json") else { return };
    let vectors = file["compute"].as_array().unwrap();
    assert!(vectors.len() >= 14, "the file lost vectors");
    let project = Project::new();
    let mut complaints = Vec::new();
    let mut card = Value::Null;
    for vector in vectors {
        let scenario = if vector["scenario"].is_object() { &vector["scenario"] } else { &file["fixture_scenario"] };
        project.file("scenario.json", scenario.to_string());
        project.file("results.json", vector["results"].to_string());
        let ran =
            project.asterisk(&["calibrate", "score", "scenario.json", "results.json", "--resamples", "0", "--format", "json"]);
        let report = ran.json();
        let metrics = report["metrics"].as_array().unwrap();
        let missed = metrics.iter().any(|metric| metric["pass"] == false);
        assert_eq!(ran.code, Some(i32::from(missed)), "{}", ran.stderr);
        for (id, wanted) in vector["expect"].as_object().unwrap() {
            let found = metrics.iter().find(|metric| metric["id"] == id.as_str()).unwrap_or(&Value::Null);
            let counted =
                vector["results"].as_array().is_some_and(|results| !results.is_empty()) || ["M18", "M20"].contains(&id.as_str());
            let wanted = if counted { wanted.clone() } else { json!({ "value": null, "pass": null }) };
            if !near(&found["value"], &wanted["value"]) || found["pass"] != wanted["pass"] {
                complaints.push(format!("{} {id}: wanted {wanted}, found {found}", vector["id"]));
            }
        }
        card = report;
    }
    let metrics = card["metrics"].as_array().unwrap();
    let of = |id: &Value| metrics.iter().find(|metric| metric["id"] == *id).unwrap();
    for definition in file["definitions"].as_array().unwrap() {
        let metric = of(&definition["id"]);
        let bar = if metric["bar"].is_null() { json!(0.0) } else { metric["bar"].clone() };
        if metric["name"] != definition["name"] || !near(&bar, &definition["threshold"]) {
            complaints.push(format!("{definition}: found {metric}"));
        }
    }
    let rules = file["numeric"]["pass_rule"].as_array().unwrap();
    let args: Vec<Value> =
        rules.iter().map(|rule| json!([of(&rule["id"])["direction"], rule["value"], rule["threshold"]])).collect();
    for (rule, found) in rules.iter().zip(calls(&project, "pass_rule", &args)) {
        if found != rule["expect"] {
            complaints.push(format!("{rule}: found {found}"));
        }
    }
    none(&complaints);
}
