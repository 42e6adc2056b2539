//! `robustness/empty-catch`: errors that are caught and ignored.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_script::tree::{Node, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/empty-catch",
    level: LintLevel::Warning,
    summary: "an error that is caught and ignored",
    manual: include_str!("../../manual/robustness/empty-catch.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        unit.tree().each(|node| {
            if let Node::Stmt(Stmt::Try { handler, at, .. }) = node
                && handler.iter().all(Stmt::is_nothing)
                && let Some((source, span)) = unit.token(*at)
            {
                let found = Diagnostic::warning(RULE.id, "errors here are ignored");
                report.push(
                    found
                        .label(&source, span, "its `catch` is empty")
                        .help("check beforehand whether it can fail, or handle the error in the `catch`"),
                );
            }
        });
    }
}
