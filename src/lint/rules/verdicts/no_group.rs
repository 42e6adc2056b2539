//! `verdicts/no-group`: rules of a verdict that add to what their neighbours say already.

use super::linked;
use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::pipeline::VerdictRule;

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/no-group",
    level: LintLevel::Note,
    summary: "a rule without a group, next to rules of its file for the same defect",
    manual: include_str!("../../manual/verdicts/no-group.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let rules = linked(pipe);
        for one in rules.iter().filter(|one| one.rule.group.is_none()) {
            let beside = rules.iter().find(|other| {
                other.rule.id != one.rule.id && other.unit.name() == one.unit.name() && shared(one.rule, other.rule).is_some()
            });
            let Some((other, defect)) = beside.and_then(|other| Some((other.rule, shared(one.rule, other.rule)?))) else {
                continue;
            };
            let message =
                format!("`{}` speaks for {defect} as `{}` of the same file does, and adds to it", &*one.rule.id, &*other.id);
            let found = Diagnostic::warning(RULE.id, message).label(&pipe.pipeline.source, one.rule.id.span, "has no `group:`");
            let found = found.label(&pipe.pipeline.source, other.id.span, "speaks for it too");
            report.push(found.help(
                "rules that read the same sign share a `group:`, of which the strongest alone counts; give it a group of its own if \
                 it tells something else",
            ));
        }
    }
}

/// A defect that both rules speak for.
fn shared<'a>(one: &'a VerdictRule, other: &VerdictRule) -> Option<&'a str> {
    let speaks_for =
        |rule: &VerdictRule, defect: &str| rule.weights.iter().any(|weight| *weight.defect == *defect && weight.weight > 0.0);
    let own = one.weights.iter().filter(|weight| weight.weight > 0.0);
    own.map(|weight| weight.defect.as_str()).find(|defect| speaks_for(other, defect))
}
