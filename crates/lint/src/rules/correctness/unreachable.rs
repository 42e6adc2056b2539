//! `correctness/unreachable`: statements that never run.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_script::Unit;
use asterisk_script::tree::{Expr, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unreachable",
    level: LintLevel::Warning,
    summary: "statements after a return, throw or break",
    manual: include_str!("../../manual/correctness/unreachable.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        for function in &unit.tree().functions {
            block(unit, &function.body, report);
        }
    }
}

/// Checks statements and nested blocks; reports the statement after one that always leaves, once per block.
fn block(unit: &Unit, statements: &[Stmt], report: &mut FindingCollector) {
    let leaving = statements.iter().position(leaves);
    let behind = leaving.and_then(|at| Some((&statements[at], statements[at + 1..].iter().find(|one| !one.is_nothing())?)));
    if let Some((left, behind)) = behind
        && let (Some((source, span)), Some((_, why))) = (begin(unit, behind), unit.token(left.position()))
    {
        let found = Diagnostic::warning(RULE.id, "this code never runs").label(&source, span, "from here on").label(
            &source,
            why,
            "left here",
        );
        report.push(found.help("remove it, or move it before that statement"));
    }
    for statement in statements {
        inside(statement, &mut |statements| block(unit, statements, report));
    }
}

fn inside(statement: &Stmt, visit: &mut dyn FnMut(&[Stmt])) {
    match statement {
        Stmt::If { then: first, otherwise: second, .. } | Stmt::Try { body: first, handler: second, .. } => {
            visit(first);
            visit(second);
        }
        Stmt::Block(body, _)
        | Stmt::While { body, .. }
        | Stmt::Do { body, .. }
        | Stmt::For { body, .. }
        | Stmt::Expr(Expr::Block(body, _))
        | Stmt::Var { value: Expr::Block(body, _), .. } => visit(body),
        _ => {}
    }
}

/// Whether control never continues after a statement.
fn leaves(statement: &Stmt) -> bool {
    let any = |statements: &[Stmt]| statements.iter().any(leaves);
    match statement {
        Stmt::Return { .. } | Stmt::Break { .. } => true,
        Stmt::Block(statements, _) => any(statements),
        Stmt::If { then, otherwise, .. } => any(then) && any(otherwise),
        _ => false,
    }
}

/// The location of a statement.
fn begin(unit: &Unit, statement: &Stmt) -> Option<(Source, Span)> {
    match statement {
        Stmt::Assign { target, .. } => unit.token(target.start_position()),
        Stmt::Expr(expr) => unit.extent(expr),
        other => unit.token(other.position()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_certain_exits_count() {
        for body in [
            "if artifact.match { return true; } false",
            "for place in artifact.places { if place.weight > 0.0 { break; } } artifact.match",
            "if artifact.match { return true; } else { } false",
            "switch artifact.kind { \"new\" => return false, _ => () } artifact.match",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        let both = "if artifact.match { return true; } else { return false; } artifact.confidence >= vars.enough";
        assert_eq!(found(RULE.id, &Example::rule(both)), ["artifact.confidence >= vars.enough"]);
        let closure = "artifact.places.any(|place| { return place.weight > 1.0; 5 })";
        assert_eq!(found(RULE.id, &Example::rule(closure)), ["5"]);
    }
}
