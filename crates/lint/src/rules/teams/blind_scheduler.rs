//! `teams/blind-scheduler`: schedulers that ignore the list of walkers.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::Diagnostic;
use asterisk_project::FunctionUse;

pub(super) const RULE: LintRule = LintRule {
    id: "teams/blind-scheduler",
    level: LintLevel::Warning,
    summary: "a scheduler that does not read the walkers",
    manual: include_str!("../../manual/teams/blind-scheduler.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined().filter(|one| one.place == FunctionUse::Scheduler) {
        let looks = |path: &str| path == "ctx" || path.starts_with("ctx.walkers") || path.starts_with("ctx.prior");
        if one.analysis.reads.iter().any(|read| looks(&read.path)) {
            continue;
        }
        let Some(function) = one.unit.tree().named().find(|function| function.name() == one.name) else { continue };
        let (source, span) = name_of(one.unit, function);
        let found = Diagnostic::warning(RULE.id, format!("`{}` does not read the walkers", one.name));
        let found = found.label(&source, span, "it chooses the same for any team");
        report.push(found.help("choose one of `ctx.walkers` by `affinities`, `element` or `home`"));
    }
}
