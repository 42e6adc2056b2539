//! `verdicts/no-group`: verdict rules without a group, next to others for the same defect.

use super::linked;
use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::VerdictRule;

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
            let message = format!("`{}` and `{}` of the same file both add to {defect}", &*one.rule.id, &*other.id);
            let found = Diagnostic::warning(RULE.id, message).label(&pipe.pipeline.source, one.rule.id.span, "without `group:`");
            let found = found.label(&pipe.pipeline.source, other.id.span, "adds to it too");
            report.push(found.help(
                "put rules that read the same sign in one `group:`, of which only the strongest counts; give it a group of its own if \
                 it reads another sign",
            ));
        }
    }
}

/// A defect that both rules support.
fn shared<'a>(one: &'a VerdictRule, other: &VerdictRule) -> Option<&'a str> {
    let speaks_for =
        |rule: &VerdictRule, defect: &str| rule.weights.iter().any(|weight| *weight.defect == *defect && weight.weight > 0.0);
    let own = one.weights.iter().filter(|weight| weight.weight > 0.0);
    own.map(|weight| weight.defect.as_str()).find(|defect| speaks_for(other, defect))
}
