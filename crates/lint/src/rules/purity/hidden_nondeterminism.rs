//! `purity/hidden-nondeterminism`: decisions that depend on chance or on the clock.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_project::FunctionUse;

pub(super) const RULE: LintRule = LintRule {
    id: "purity/hidden-nondeterminism",
    level: LintLevel::Warning,
    summary: "a decision that depends on chance or on the clock",
    manual: include_str!("../../manual/purity/hidden-nondeterminism.md"),
    options: &[],
    check: Some(check),
};

/// Inputs that differ between runs.
const DIFFERENT: [&str; 6] = [
    "state.chance",
    "state.elapsed_s",
    "ctx.state.chance",
    "ctx.state.elapsed_s",
    "params.timestamps.now",
    "params.state.chance",
];

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined() {
        if !matches!(one.place, FunctionUse::Edge(_) | FunctionUse::Effect(_) | FunctionUse::Cluster | FunctionUse::Scheduler) {
            continue;
        }
        for read in one.analysis.reads.iter().filter(|read| DIFFERENT.contains(&read.path.as_str())) {
            let what = match one.place {
                FunctionUse::Edge(_) => "this decision",
                FunctionUse::Scheduler => "the choice of a walker",
                _ => "the stored result",
            };
            let found = Diagnostic::warning(RULE.id, format!("{what} depends on `{}`, which differs in every run", read.path));
            let found = found.label(&read.source, read.span, "read here");
            report.push(found.help("decide by the artifact, or by `state.loops` and `state.steps`"));
        }
    }
}
