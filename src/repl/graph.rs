//! Draws the pipeline as text, with the session's position.

use super::scope::EvalScope;
use asterisk_pipeline::{Edge, EdgeIx, Pipeline};
use std::collections::BTreeSet;

/// A line for each node with its edges: `>` marks the session's position, `*` the nodes that the case has visited.
pub(super) fn outline(here: &EvalScope, visited: &BTreeSet<String>) -> String {
    let pipeline = &here.plan.pipeline;
    let edge = |edge: &EdgeIx| {
        let edge = pipeline.edge_at(*edge);
        let back = if edge.looped { " (loop)" } else { "" };
        if edge.advisory {
            format!("{} advises", edge.id.value)
        } else {
            format!("{} {}{back}", edge.id.value, targets(pipeline, edge).join("|"))
        }
    };
    let name = |node: &asterisk_pipeline::PipelineNode| match &node.code {
        Some(code) => format!("{} ({})", node.name.value, code.value),
        None => node.name.value.clone(),
    };
    let width = pipeline.nodes.iter().map(|node| name(node).chars().count()).max().unwrap_or_default();
    let mut lines = vec![pipeline.name.value.clone()];
    for (at, node) in pipeline.nodes.iter().enumerate() {
        let mark = match here.node {
            Some(here) if here.0 == at => '>',
            _ if visited.contains(&node.name.value) => '*',
            _ => ' ',
        };
        let mut edges: Vec<String> = node.advisories.iter().chain(&node.edges).map(edge).collect();
        if let Some(fallback) = node.fallback {
            edges.push(format!("fallback {}", pipeline.target_name(fallback)));
        }
        lines.push(format!("{mark} {:<width$}  {}", name(node), edges.join(", ")).trim_end().to_owned());
    }
    if !pipeline.guards.is_empty() {
        let guards: Vec<String> = pipeline.guards.iter().map(edge).collect();
        lines.push(format!("  {:<width$}  {}", "anywhere", guards.join(", ")));
    }
    lines.join("\n")
}

/// The names of all targets of an edge.
pub(super) fn targets<'a>(pipeline: &'a Pipeline, edge: &Edge) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in edge.choices().map(|target| pipeline.target_name(target)) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
