//! `robustness/throw-in-rule`: rules that throw.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_project::FunctionUse;
use asterisk_script::tree::{self, Node, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/throw-in-rule",
    level: LintLevel::Warning,
    summary: "a rule that throws, which stops the walk",
    manual: include_str!("../../manual/robustness/throw-in-rule.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined().filter(|one| matches!(one.place, FunctionUse::Edge(_))) {
        let Some(function) = one.unit.tree().function(&one.name, one.inputs.len()) else { continue };
        tree::each_path(&function.body, &mut |path| {
            if let Some(Node::Stmt(Stmt::Return { throws: true, at, .. })) = path.last()
                && !path.iter().any(|node| matches!(node, Node::Stmt(Stmt::Try { .. })))
                && let Some((source, span)) = one.unit.token(*at)
            {
                let found = Diagnostic::warning(RULE.id, "a rule that throws stops the walk").label(&source, span, "thrown here");
                report.push(found.help("return `false`, or route to a node that decides"));
            }
        });
    }
}
