//! The single decisions of a policy, compared with external vectors.

use crate::harness::Project;
use crate::shared::shared_json;
use serde_json::{Map, Value, json};

/// Keys of a vector that are not part of its question.
const ABOUT: &[&str] = &["id", "expect", "decided", "call", "source"];

/// Decided differences from the vectors: the group, the index in it, and the decided answer. A value put into a task is
/// not rendered again.
const DECIDED: &[(&str, usize, &str)] = &[("task_render", 4, "\"{b}\"")];

fn decided(group: &str, at: usize) -> Option<Value> {
    let (.., text) = DECIDED.iter().find(|(name, index, _)| (*name, *index) == (group, at))?;
    Some(serde_json::from_str(text).unwrap())
}

/// Whether an answer is as a vector expects: each of the named parts, or the whole. `x_contains` is a part of `x`.
fn agrees(found: &Value, expected: &Value) -> bool {
    let part = |(key, value): (&String, &Value)| match key.strip_suffix("_contains") {
        Some(name) => found[name].to_string().contains(value.as_str().unwrap_or(&value.to_string())),
        None => agrees(&found[key], value),
    };
    match (found, expected) {
        (Value::Object(_), Value::Object(parts)) => parts.iter().all(part),
        (Value::Number(found), Value::Number(expected)) => found.as_f64() == expected.as_f64(),
        _ => found == expected,
    }
}

#[test]
fn every_question_of_a_policy_is_answered_as_decided() {
    let Some(file) = shared_json("vectors/policy.json") else { return };
    let project = Project::new();
    let mut complaints = Vec::new();
    let groups = [
        ("council", "council", 14),
        ("budget", "budget", 4),
        ("cache", "cache_key", 5),
        ("safe_name", "safe_name", 5),
        ("manifest", "manifest", 4),
        ("task_render", "render", 6),
        ("diff_summary", "diff_summary", 4),
    ];
    for (group, function, least) in groups {
        let called = |(_, vector): &(usize, &Value)| vector["call"] != json!(false);
        let vectors: Vec<(usize, &Value)> = file[group].as_array().unwrap().iter().enumerate().filter(called).collect();
        assert!(vectors.len() >= least, "{group}: the file lost vectors");
        let line = |(at, vector): &(usize, &Value)| {
            let question: Map<String, Value> = vector
                .as_object()
                .unwrap()
                .iter()
                .filter(|(key, _)| !ABOUT.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            json!({ "id": at, "args": [question] }).to_string()
        };
        project.file("batch.jsonl", vectors.iter().map(line).collect::<Vec<_>>().join("\n"));
        let reference = format!("lib/policy.rhai#{function}");
        let answers =
            project.asterisk(&["eval", "call", &reference, "--batch", "batch.jsonl", "--format", "json"]).ok().json_lines();
        assert_eq!(answers.len(), vectors.len(), "{group}");
        for ((at, vector), answer) in vectors.iter().zip(&answers) {
            let expected = decided(group, *at).unwrap_or_else(|| vector["expect"].clone());
            if !agrees(&answer["result"], &expected) {
                complaints.push(format!("{group} {at} {}: expected {expected}, found {answer}", vector["id"]));
            }
        }
    }
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn decided_differences_are_differences() {
    let Some(file) = shared_json("vectors/policy.json") else { return };
    for (group, at, text) in DECIDED {
        let ours: Value = serde_json::from_str(text).unwrap();
        assert_ne!(file[group][at]["expect"], ours, "{group} {at} is no longer a difference");
    }
}
