//! `verdicts/never-speaks`: verdict rules that cannot contribute.

use super::linked;
use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::Diagnostic;
use asterisk_script::tree::{self, Expr, Node, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/never-speaks",
    level: LintLevel::Warning,
    summary: "a verdict rule that never matches, or without weights",
    manual: include_str!("../../manual/verdicts/never-speaks.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for one in linked(pipe) {
            let id = &*one.rule.id;
            if one.rule.weights.iter().all(|weight| weight.weight == 0.0) {
                let message = format!("the rule `{id}` has no weight for any defect");
                let found = Diagnostic::warning(RULE.id, message);
                let found = found.label(&pipe.pipeline.source, one.rule.id.span, "all of its weights are 0");
                report.push(found.help("give it a weight under `for:`, or remove it"));
            } else if is_silent(&one.function.body) {
                let (source, span) = name_of(one.unit, one.function);
                let message = format!("the rule `{id}` never matches: no path through `{}` returns a match", one.function.name());
                let found = Diagnostic::warning(RULE.id, message).label(&source, span, "returns only `false` or `()`");
                let found = found.label(&pipe.pipeline.source, one.rule.id.span, "declared here");
                report.push(found.help("return `true`, or a map with `because`, where the evidence supports it"));
            }
        }
    }
}

/// Whether every value that a function returns is `false` or `()`.
fn is_silent(body: &[Stmt]) -> bool {
    let mut silent = ends_silent(body);
    tree::each(body, &mut |node| {
        if let Node::Stmt(Stmt::Return { value: Some(value), throws: false, .. }) = node {
            silent &= returns_no_match(value);
        }
    });
    silent
}

/// Whether the last statement of a block evaluates to `false`, `()` or no value.
fn ends_silent(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Expr(value)) => returns_no_match(value),
        Some(Stmt::If { then, otherwise, .. }) => ends_silent(then) && ends_silent(otherwise),
        Some(Stmt::Switch { arms, .. }) => arms.iter().all(|arm| returns_no_match(&arm.value)),
        Some(Stmt::Block(inner, _)) => ends_silent(inner),
        Some(Stmt::Try { body, handler, .. }) => ends_silent(body) && ends_silent(handler),
        // A loop may return a value with `break`.
        Some(Stmt::While { body, .. } | Stmt::Do { body, .. } | Stmt::For { body, .. }) => !breaks_with_value(body),
        _ => true,
    }
}

fn breaks_with_value(body: &[Stmt]) -> bool {
    let mut breaks = false;
    tree::each(body, &mut |node| breaks |= matches!(node, Node::Stmt(Stmt::Break { value: Some(_), .. })));
    breaks
}

fn returns_no_match(value: &Expr) -> bool {
    match value {
        Expr::Unit(_) | Expr::Bool(false, _) => true,
        Expr::Block(inner, _) => ends_silent(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_diag::Source;
    use asterisk_script::Unit;

    fn silent(body: &str) -> bool {
        let unit = Unit::read(&Source::new("t.rhai", format!("fn f(evidence, context, vars) {{ {body} }}"))).expect("parses");
        is_silent(&unit.tree().functions[0].body)
    }

    #[test]
    fn a_rule_is_silent_if_every_path_is() {
        assert!(silent("false") && silent("()") && silent("") && silent("let a = 1;"));
        assert!(silent("if evidence.lines.is_empty() { return false; } if vars.a { () } else { false }"));
        assert!(silent("switch vars.a { 1 => false, _ => () }") && silent("for line in evidence.lines { vars.a(line); }"));
        assert!(!silent("evidence.lines.is_empty()") && !silent("true") && !silent("#{ because: `x` }"));
        assert!(!silent("if vars.a { return true; } false") && !silent("if vars.a { false } else { check(evidence) }"));
        assert!(!silent("for line in evidence.lines { if vars.a(line) { break true; } }"));
    }
}
