//! `robustness/throw-in-rule`: rules that stop the walk on purpose.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::project::FunctionUse;
use crate::script::rewrite::statements_of;
use rhai::{ASTFlags, ASTNode, Stmt};

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "robustness/throw-in-rule",
    level: LintLevel::Warning,
    summary: "a rule that stops the walk on purpose",
    manual: include_str!("../../manual/robustness/throw-in-rule.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined().filter(|one| matches!(one.place, FunctionUse::Edge(_))) {
        let definition = one
            .unit
            .ast()
            .iter_fn_def()
            .find(|function| *function.name == *one.name && function.params.len() == one.inputs.len());
        for statement in definition.map(statements_of).unwrap_or_default() {
            statement.walk(&mut Vec::new(), &mut |path| {
                if let Some(ASTNode::Stmt(Stmt::Return(_, flags, at))) = path.last()
                    && flags.contains(ASTFlags::BREAK)
                    && !path.iter().any(|node| matches!(node, ASTNode::Stmt(Stmt::TryCatch(..))))
                    && let Some((source, span)) = one.unit.token(*at)
                {
                    let found =
                        Diagnostic::warning(RULE.id, "a rule that throws stops the walk").label(&source, span, "thrown here");
                    report.push(found.help("return `false`, or lead to a node where somebody decides"));
                }
                true
            });
        }
    }
}
