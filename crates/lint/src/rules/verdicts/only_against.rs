//! `verdicts/only-against`: verdict rules without a defect that they support.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/only-against",
    level: LintLevel::Warning,
    summary: "a verdict rule with negative weights only",
    manual: include_str!("../../manual/verdicts/only-against.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let rules = pipe.pipeline.verdict.iter().flat_map(|verdict| &verdict.rules);
        for rule in rules.filter(|rule| !rule.weights.is_empty() && rule.weights.iter().all(|weight| weight.weight < 0.0)) {
            let first = &rule.weights[0].defect;
            let message = format!("the rule `{}` has negative weights only", *rule.id);
            let found = Diagnostic::warning(RULE.id, message).label(&pipe.pipeline.source, first.span, "a weight below 0");
            report.push(found.help("name a defect that it supports, with a weight above 0; a sign is easily lost or added"));
        }
    }
}
