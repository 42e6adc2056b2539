//! `routing/dead-fallback`: unreachable fallbacks.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::Formula;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::{EdgeCondition, EdgeIx, OnRuleError};

pub(super) const RULE: LintRule = LintRule {
    id: "routing/dead-fallback",
    level: LintLevel::Warning,
    summary: "a fallback that is never taken",
    manual: include_str!("../../manual/routing/dead-fallback.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        for node in pipeline.nodes.iter().filter(|node| node.fallback.is_some()) {
            let always = node.edges.iter().find(|edge| pipe.fires[edge.0] == Formula::True);
            let fails = pipeline.on_rule_error == OnRuleError::Skip;
            let unconditional = |edge: &&EdgeIx| pipeline.edge_at(**edge).when == EdgeCondition::Always;
            let dead = match always {
                Some(_) if fails => node.edges.iter().any(|edge| unconditional(&edge)),
                Some(_) => true,
                None => false,
            };
            let Some(always) = always.filter(|_| dead) else { continue };
            let found = Diagnostic::warning(RULE.id, format!("the fallback of `{}` is never taken", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "its `fallback:` has no effect");
            let found = found.label(&pipeline.source, pipeline.edge_at(*always).id.span, "this edge is always taken");
            report.push(found.help("remove the fallback, or give the edge a condition"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn a_fallback_after_conditions_is_reachable() {
        let edges = |edges: &str| found(RULE.id, &Example::fallback(edges));
        assert_eq!(edges("  - { id: A, from: look, to: judge, condition: 'match' }\n"), [""; 0]);
        assert_eq!(edges("  - { id: A, from: look, to: judge, condition: 'true' }\n"), ["look"]);
        assert_eq!(edges("  - { id: A, from: look, advisory: true, condition: 'true', context: { a: 1 } }\n"), [""; 0]);
    }
}
