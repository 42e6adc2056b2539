//! `routing/unreachable-node`: nodes that no walk can reach.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::{EdgeTarget, NodeIx};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "routing/unreachable-node",
    level: LintLevel::Warning,
    summary: "a node that no walk can reach",
    manual: include_str!("../../manual/routing/unreachable-node.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        // In pipelines with `after:`, every node runs.
        if pipeline.waves() {
            continue;
        }
        let (mut seen, mut open) = (BTreeSet::from([pipeline.start]), vec![pipeline.start]);
        while let Some(at) = open.pop() {
            let node = pipeline.at(at);
            let edges = node.edges.iter().chain(&pipeline.guards).flat_map(|edge| pipeline.edge_at(*edge).choices());
            for target in edges.chain(node.fallback) {
                if let EdgeTarget::Node(to) = target
                    && seen.insert(to)
                {
                    open.push(to);
                }
            }
        }
        for (_, node) in pipeline.nodes.iter().enumerate().filter(|(at, _)| !seen.contains(&NodeIx(*at))) {
            let found = Diagnostic::warning(RULE.id, format!("no walk can reach `{}`", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "nothing leads here");
            report.push(found.help(format!(
                "add an edge to it from a node that `{}` leads to, or remove it",
                *pipeline.at(pipeline.start).name
            )));
        }
    }
}
