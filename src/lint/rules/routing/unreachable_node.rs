//! `routing/unreachable-node`: nodes that no walk comes to.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::pipeline::{EdgeTarget, NodeIx};
use std::collections::BTreeSet;

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "routing/unreachable-node",
    level: LintLevel::Warning,
    summary: "a node that no walk comes to",
    manual: include_str!("../../manual/routing/unreachable-node.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        // Where nodes wait for each other, each gets its turn.
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
            let found = Diagnostic::warning(RULE.id, format!("no walk comes to `{}`", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "nothing leads here");
            report.push(
                found.help(format!(
                    "lead an edge here from what `{}` leads to, or take it away",
                    *pipeline.at(pipeline.start).name
                )),
            );
        }
    }
}
