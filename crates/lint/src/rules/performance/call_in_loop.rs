//! `performance/call-in-loop`: a call of an imported function that returns the same in every iteration.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_script::Unit;
use asterisk_script::tree::{self, Expr, Function, Node, Stmt};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "performance/call-in-loop",
    level: LintLevel::Note,
    summary: "a call in a loop that returns the same each time",
    manual: include_str!("../../manual/performance/call-in-loop.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        unit.tree().named().for_each(|function| examine(unit, function, report));
    }
}

fn examine(unit: &Unit, function: &Function, report: &mut FindingCollector) {
    let fixed = unchanged(function);
    tree::each_path(&function.body, &mut |path| {
        let Some((Node::Expr(expr @ Expr::Call(call, _)), around)) = path.split_last() else { return };
        if call.operator || call.namespace.is_empty() || call.args.is_empty() || !is_repeated(around) {
            return;
        }
        let is_fixed = |argument: &Expr| match argument {
            Expr::Variable(variable, _) => variable.namespace.is_empty() && fixed.contains(variable.name.as_str()),
            Expr::Bool(..) | Expr::Int(..) | Expr::Float(..) | Expr::Text(..) => true,
            _ => false,
        };
        let has_variable = call.args.iter().any(|argument| matches!(argument, Expr::Variable(..)));
        if !has_variable || !call.args.iter().all(is_fixed) {
            return;
        }
        if let Some((source, span)) = unit.extent(expr) {
            let found = Diagnostic::warning(RULE.id, format!("`{}` returns the same in every iteration", call.name));
            report.push(found.label(&source, span, "called again each time").help("call it before the loop"));
        }
    });
}

/// The parameters that the function neither changes nor shadows.
fn unchanged(function: &Function) -> BTreeSet<&str> {
    let mut fixed: BTreeSet<&str> = function.params.iter().map(AsRef::as_ref).collect();
    tree::each(&function.body, &mut |node| {
        let Node::Stmt(statement) = node else { return };
        match statement {
            Stmt::Var { name, .. } => drop(fixed.remove(name.text.as_str())),
            Stmt::For { item, counter, .. } => {
                for name in std::iter::once(item).chain(counter) {
                    fixed.remove(name.text.as_str());
                }
            }
            Stmt::Assign { target, .. } => target.each(&mut |part| {
                if let Node::Expr(Expr::Variable(variable, _)) = part {
                    fixed.remove(variable.name.as_str());
                }
            }),
            _ => {}
        }
    });
    fixed
}

/// Whether the innermost node is evaluated in each iteration of a loop: in its body, or in the condition of `while`, and not only if
/// something holds.
fn is_repeated(around: &[Node<'_>]) -> bool {
    let is_loop = |(at, node): (usize, &Node<'_>)| match node {
        // The iterated value is evaluated once.
        Node::Stmt(Stmt::For { over, .. }) => {
            around.get(at + 1).is_some_and(|next| !matches!(next, Node::Expr(next) if std::ptr::eq(*next, over)))
        }
        Node::Stmt(Stmt::While { .. } | Stmt::Do { .. }) => true,
        _ => false,
    };
    let Some(innermost) = around.iter().enumerate().rposition(is_loop) else { return false };
    let within = &around[innermost + 1..];
    let is_conditional = |(at, node): (usize, &Node<'_>)| match node {
        Node::Stmt(Stmt::If { .. }) => matches!(within.get(at + 1), Some(Node::Stmt(_))),
        Node::Stmt(Stmt::Switch { .. }) | Node::Expr(Expr::And(..) | Expr::Or(..) | Expr::Coalesce(..)) => true,
        _ => false,
    };
    !within.iter().enumerate().any(is_conditional)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_calls_with_inputs_that_never_change_are_reported() {
        let calls = |body: &str| {
            let text = format!("import \"lib/x\" as x;\n/// Seen before.\nfn seen(artifact, state, vars) {{ {body} false }}\n");
            found(RULE.id, &Example::script(&text))
        };
        for (body, want) in [
            ("for i in 0..3 { if x::f(artifact, 2) == i { return true; } }", &["f(artifact, 2)"][..]),
            ("while x::f(vars) { }", &["f(vars)"]),
            ("for i in 0..3 { if i > 1 { x::f(vars); } }", &[]),
            ("for i in 0..3 { i > 1 && x::f(vars); }", &[]),
            ("for i in x::f(artifact) { }", &[]),
            ("for i in 0..3 { x::f(i); x::f(artifact, i); x::f(1); }", &[]),
            ("let a = x::f(artifact); for i in 0..3 { a; }", &[]),
            ("let vars = vars; for i in 0..3 { x::f(vars); }", &[]),
        ] {
            assert_eq!(calls(body), want, "{body}");
        }
    }
}
