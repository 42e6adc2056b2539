//! Writes a pipeline in the graph language.

use super::graph::{Pipeline, PipelineNode};
use super::policy::{Council, NodePolicy};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

impl Pipeline {
    /// Its text in the graph language: as written, unless it is written as stages.
    pub fn graph_text(&self) -> String {
        if !self.stages {
            return self.source.text().to_owned();
        }
        let mut text = format!("pipeline: {}\n", scalar(&json!(*self.name)));
        if !self.description.is_empty() {
            let _ = writeln!(text, "description: {}", scalar(&json!(self.description)));
        }
        if let Some(file) = &self.policy.file {
            let _ = writeln!(text, "policy: {}", scalar(&json!(**file)));
        }
        for (key, value) in [("policy", self.policy_json()), ("memory", self.memory.clone())] {
            if !value.is_empty() {
                let _ = writeln!(text, "{key}: {}", flow(&Value::Object(value)));
            }
        }
        if let Some(report) = &self.report {
            let _ = writeln!(text, "report: {}", scalar(&json!(**report)));
        }
        text.push_str("nodes:\n");
        for node in &self.nodes {
            let mut lead = "  - ";
            for (key, value) in self.keys(node) {
                let _ = writeln!(text, "{lead}{key}: {}", flow(&value));
                lead = "    ";
            }
        }
        let _ = writeln!(text, "done: {}", scalar(&json!(*self.done)));
        text
    }

    /// The policy, by key and category.
    fn policy_json(&self) -> Map<String, Value> {
        let mut policy = Map::new();
        for (path, setting) in &self.policy.settings {
            match path.split_once('.') {
                Some((key, category)) => {
                    let entries = policy.entry(key).or_insert_with(|| json!({}));
                    entries[category] = setting.value.clone();
                }
                None => drop(policy.insert(path.clone(), setting.value.clone())),
            }
        }
        if let Some(preset) = &self.policy.preset {
            policy.insert("preset".into(), json!(**preset));
        }
        policy
    }

    /// The keys of a node.
    fn keys(&self, node: &PipelineNode) -> Vec<(&'static str, Value)> {
        let mut keys = vec![("name", json!(*node.name))];
        let after: Vec<&str> = node.after.iter().map(|ix| self.at(*ix).name.as_str()).collect();
        let via: Vec<&str> = node.via.iter().map(|name| name.as_str()).collect();
        if let Some(policy) = &node.policy {
            keys.extend(policy_keys(policy));
        }
        keys.extend((!via.is_empty()).then(|| ("via", json!(via))));
        keys.push(("after", json!(after)));
        keys
    }
}

fn policy_keys(policy: &NodePolicy) -> Vec<(&'static str, Value)> {
    let mut keys = Vec::new();
    let text = |text: Option<&super::Spanned<String>>| text.map(|text| json!(text.value));
    keys.extend(text(policy.agent.as_ref()).map(|agent| ("agent", agent)));
    keys.extend(text(policy.category.as_ref()).map(|category| ("category", category)));
    let task = policy.task.as_ref().filter(|task| !task.text.is_empty());
    keys.extend(task.map(|task| ("task", json!(task.text.value))));
    keys.extend(policy.timeout.as_ref().map(|timeout| ("timeout", json!(timeout.value))));
    let mut retry = Map::new();
    if let Some(attempts) = &policy.max_retries {
        retry.insert("attempts".into(), json!(attempts.value));
    }
    if policy.retry.backoff > 0.0 {
        retry.insert("backoff".into(), json!(policy.retry.backoff));
    }
    if policy.retry.on.len() < super::RetryReason::ALL.len() {
        retry.insert("on".into(), policy.retry.on.iter().map(|reason| json!(reason.word())).collect());
    }
    keys.extend((!retry.is_empty()).then_some(("retry", Value::Object(retry))));
    keys.extend(policy.cache.as_ref().map(|cache| ("cache", json!(cache.value))));
    if let Some(gate) = &policy.gate {
        let Council { members, decision, weights } = &gate.council;
        let names: Vec<&str> = members.iter().map(|name| name.as_str()).collect();
        let mut value = match names.as_slice() {
            [one] => json!({ "advisor": one }),
            names => json!({ "advisors": names, "decision": decision.word() }),
        };
        if !weights.is_empty() {
            value["weights"] = json!(weights);
        }
        if let Some(least) = &gate.min_score {
            value["min_score"] = json!(least.value);
        }
        keys.push(("gate", value));
    }
    keys
}

/// A value in YAML's flow style.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{}: {}", scalar(&json!(key)), flow(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        other => scalar(other),
    }
}

/// A scalar: plain where that is certainly the same text, else in double quotes as JSON has it.
fn scalar(value: &Value) -> String {
    let plain = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
            && !matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n")
    };
    match value {
        Value::String(text) if plain(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Pipeline, parse};
    use asterisk_diag::Source;

    const STAGES: &str = "\
description: 'a: \"test\"'
policy: { thresholds: { overall: 0.7, code: 0.9 }, advisors: { council: [{ name: A, weight: 2 }, B] }, budget: { max_bytes: 9 } }
memory: { idea: yes }
stages:
  - { name: Product Definition, agent: Writer, advisor: A, task: 'on {idea}', category: requirements, min_score: 0.8 }
  - { name: b, agent: agents/b.rhai#b, advisor: B, task: \"{Product Definition.content}\\nand more\", max_retries: 2, cache: false }
  - { name: c, agent: C, advisor: C, depends_on: [b], timeout: 1.5, retry: { attempts: 1, backoff: 0.5, on: [rejection] } }
dependencies: { c: Product Definition }
";

    fn read(text: &str) -> Pipeline {
        parse(&Source::new("dir/shop.yaml", text)).unwrap_or_else(|found| panic!("{found}"))
    }

    #[test]
    fn stages_read_and_written_as_a_graph_are_the_same_pipeline() {
        let stages = read(STAGES);
        let text = stages.graph_text();
        let graph = read(&text);
        assert_eq!(stages.name.value, "shop");
        assert!(!graph.stages && graph.waves, "{text}");
        assert!(stages.same_graph(&graph), "{text}");
        assert_eq!(graph.graph_text(), text);
        let settings = |pipeline: &Pipeline| {
            pipeline.policy.settings.iter().map(|(path, setting)| format!("{path}={}", setting.value)).collect::<Vec<_>>()
        };
        assert_eq!(settings(&stages), settings(&graph));
        assert!(settings(&stages).contains(&"score_thresholds.default=0.7".to_owned()));
        assert_eq!(stages.memory, graph.memory);
        let waves = |pipeline: &Pipeline| {
            let names =
                |wave: Vec<super::super::NodeIx>| wave.iter().map(|ix| pipeline.at(*ix).name.value.clone()).collect::<Vec<_>>();
            pipeline.wave_nodes().into_iter().map(names).collect::<Vec<_>>()
        };
        assert_eq!(waves(&stages), [["Product Definition"], ["b"], ["c"]]);
        assert_eq!(waves(&graph), waves(&stages));
        let of = |pipeline: &Pipeline| {
            let policy = |node: &super::super::PipelineNode| {
                node.policy.as_ref().map(|policy| super::policy_keys(policy)).unwrap_or_default()
            };
            pipeline.nodes.iter().map(policy).collect::<Vec<_>>()
        };
        assert_eq!(of(&stages), of(&graph));
    }
}
