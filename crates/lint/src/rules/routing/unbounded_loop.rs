//! `routing/unbounded-loop`: cycles without a bound.

use crate::context::LintContext;
use crate::context::LintedPipeline;
use crate::finding::FindingCollector;
use crate::model::Formula;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};
use asterisk_pipeline::{EdgeCondition, EdgeIx, EdgeTarget};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "routing/unbounded-loop",
    level: LintLevel::Warning,
    summary: "a cycle bounded only by the step limit",
    manual: include_str!("../../manual/routing/unbounded-loop.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        if pipeline.guards.iter().any(|guard| bounds(pipe, *guard)) {
            continue;
        }
        // The unbounded transitions.
        let mut transitions: Vec<(usize, usize, Span)> = Vec::new();
        for (at, node) in pipeline.nodes.iter().enumerate() {
            let mut bounded = false;
            for edge in &node.edges {
                bounded |= bounds(pipe, *edge);
                let edge = pipeline.edge_at(*edge);
                let targets = edge.choices().filter(|_| !bounded);
                transitions.extend(
                    targets.filter_map(|to| if let EdgeTarget::Node(to) = to { Some((at, to.0, edge.id.span)) } else { None }),
                );
            }
            if let (Some(EdgeTarget::Node(to)), false) =
                (node.fallback, bounded || node.edges.iter().any(|edge| pipe.fires[edge.0] == Formula::True))
            {
                transitions.push((at, to.0, node.name.span));
            }
        }
        let mut reported = BTreeSet::new();
        for (from, to, span) in &transitions {
            let cycle = reach(&transitions, *to);
            // The back edge: its target is earlier in the file, or the node itself.
            if to > from || !cycle.contains(from) || !reported.insert(*span) {
                continue;
            }
            let (from, to) = (&pipeline.nodes[*from].name, &pipeline.nodes[*to].name);
            let message = format!("nothing bounds the cycle from `{}` back to `{}`", **from, **to);
            let found = Diagnostic::warning(RULE.id, message).label(
                &pipeline.source,
                *span,
                "goes back, regardless of what happened before",
            );
            report.push(found.help("mark it `loop: true`, and limit `state.loops` in its condition"));
        }
    }
}

/// Whether an edge's condition reads the state of the walk, or is unknown.
fn bounds(pipe: &LintedPipeline<'_>, edge: EdgeIx) -> bool {
    match (&pipe.pipeline.edge_at(edge).when, pipe.rule(edge)) {
        (EdgeCondition::Always, _) => false,
        (_, None) => true,
        (_, Some(rule)) => rule.analysis.reads.iter().any(|read| read.path == "state" || read.path.starts_with("state.")),
    }
}

/// The nodes reachable by some transitions.
fn reach(transitions: &[(usize, usize, Span)], start: usize) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(at) = open.pop() {
        for (_, to, _) in transitions.iter().filter(|(from, ..)| *from == at) {
            if seen.insert(*to) {
                open.push(*to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    fn back(edges: &str) -> Vec<String> {
        found(RULE.id, &Example::edges(edges))
    }

    #[test]
    fn a_condition_on_the_state_bounds_a_cycle() {
        assert_eq!(back("  - { id: A, from: look, to: look, loop: true, condition: 'match' }\n"), ["A"]);
        assert_eq!(back("  - { id: A, from: look, to: look, loop: true, condition: 'match && state.loops.A < 3' }\n"), [""; 0]);
        let before = "  - { id: A, from: look, to: judge, condition: 'state.steps > 9' }\n  - { id: B, from: look, to: look }\n";
        assert_eq!(back(before), [""; 0], "an edge before it asks");
        assert_eq!(back("  - { id: A, from: look, to: judge, condition: 'match' }\n"), [""; 0]);
    }
}
