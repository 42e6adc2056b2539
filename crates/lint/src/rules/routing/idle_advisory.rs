//! `routing/idle-advisory`: advisories that add no context.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::text_of;
use asterisk_diag::Diagnostic;
use asterisk_pipeline::{EdgeCondition, EdgeIx};

pub(super) const RULE: LintRule = LintRule {
    id: "routing/idle-advisory",
    level: LintLevel::Warning,
    summary: "an advisory edge that adds nothing",
    manual: include_str!("../../manual/routing/idle-advisory.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for (at, edge) in pipe.pipeline.edges.iter().enumerate().filter(|(_, edge)| edge.advisory && edge.context.is_empty()) {
            let adds = match (&edge.when, pipe.rule(EdgeIx(at))) {
                // An unknown rule may add context.
                (EdgeCondition::Rule(_), None) => true,
                (EdgeCondition::Rule(_), Some(rule)) => {
                    rule.unit.tree().named().filter(|function| function.name() == rule.name).any(|function| {
                        let text = text_of(rule.unit, function);
                        text.contains("context") || text.contains("::")
                    })
                }
                _ => false,
            };
            if !adds {
                let found = Diagnostic::warning(RULE.id, format!("the advisory `{}` adds nothing", *edge.id));
                let found = found.label(&pipe.pipeline.source, edge.id.span, "without `context`");
                report.push(found.help("put what it should add under `context:`, or return it: `#{ context: #{ .. } }`"));
            }
        }
    }
}
