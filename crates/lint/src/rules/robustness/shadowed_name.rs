//! `robustness/shadowed-name`: functions and variables with the name of a host function or an input.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::{Diagnostic, Span};
use asterisk_script::api::{HostFn, registry};
use asterisk_script::tree::{self, Expr, Node, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/shadowed-name",
    level: LintLevel::Warning,
    summary: "a function or variable that hides a host function or an input",
    manual: include_str!("../../manual/robustness/shadowed-name.md"),
    options: &[],
    check: Some(check),
};

/// The inputs of functions that pipelines call.
const INPUTS: [&str; 6] = ["artifact", "state", "vars", "evidence", "context", "params"];

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        for function in unit.tree().named() {
            let hides = |host: &&HostFn| host.name == function.name() && host.parameters() == function.params.len();
            if let Some(host) = registry().iter().find(hides) {
                let (source, span) = name_of(unit, function);
                let message = format!("`{}` hides the host function `{}`", function.name(), host.signature);
                let found = Diagnostic::warning(RULE.id, message).label(&source, span, "called instead of it in this script");
                report.push(found.help("give it another name"));
            }
            let is_input = |name: &str| INPUTS.contains(&name) && function.params.iter().any(|param| param.as_str() == name);
            tree::each(&function.body, &mut |node| {
                let Node::Stmt(Stmt::Var { name, value, .. }) = node else { return };
                // A copy to work on keeps the name.
                let is_copy = matches!(value, Expr::Variable(variable, _) if variable.name == name.text);
                if is_copy || !is_input(&name.text) {
                    return;
                }
                let start = unit.tokens().offset(unit.script(), name.at);
                let (source, span) = unit.locate(Span::new(start, start + name.text.len()));
                let message = format!("the variable `{}` hides the input of that name", name.text);
                let found = Diagnostic::warning(RULE.id, message).label(&source, span, "read below instead of the input");
                report.push(found.help("give it another name"));
            });
        }
    }
}
