//! `correctness/missing-return`: functions that return a value on one path and none on another.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::{name_of, takes_rule_inputs};
use asterisk_diag::Diagnostic;
use asterisk_project::FunctionUse;
use asterisk_script::tree::{self, Expr, Node, Position, Stmt};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/missing-return",
    level: LintLevel::Warning,
    summary: "a function that returns a value on one path and none on another",
    manual: include_str!("../../manual/correctness/missing-return.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let rules: BTreeSet<(&str, &str)> = cx
        .pipelines
        .iter()
        .flat_map(|pipe| &pipe.examined)
        .filter(|one| matches!(one.place, FunctionUse::Edge(_)))
        .map(|one| (one.unit.name(), one.name.as_str()))
        .collect();
    for unit in &cx.units {
        for function in unit.tree().named() {
            let is_rule = rules.contains(&(unit.name(), function.name())) || takes_rule_inputs(function);
            let mut returned = None;
            tree::each(&function.body, &mut |node| {
                if let Node::Stmt(Stmt::Return { value: Some(_), throws: false, at }) = node {
                    returned = returned.or(Some(*at));
                }
            });
            let mut ends = FunctionEnd { gives: returned, falls: false };
            ends.add(&function.body);
            let FunctionEnd { gives: Some(given), falls: true } = ends else { continue };
            if is_rule {
                continue;
            }
            let (source, span) = name_of(unit, function);
            if comment_mentions_unit(&source.text()[..span.start.min(source.text().len())]) {
                continue;
            }
            let message = format!("`{}` returns a value on one path, but none at its end", function.name());
            let found = Diagnostic::warning(RULE.id, message).label(&source, span, "can reach its end");
            let found = match unit.token(given) {
                Some((source, span)) => found.label(&source, span, "a value is returned here"),
                None => found,
            };
            report.push(found.help("end it with a value, or with `()` if that is intended"));
        }
    }
}

/// Whether the comment above a function says that it may return `()`.
fn comment_mentions_unit(before: &str) -> bool {
    let above = before.lines().rev().skip(1);
    above.map(str::trim).take_while(|line| line.starts_with("///")).any(|line| line.contains("`()`"))
}

/// How a function ends.
struct FunctionEnd {
    /// A path that returns a value.
    gives: Option<Position>,
    /// Whether the end of the function can be reached.
    falls: bool,
}

impl FunctionEnd {
    fn add(&mut self, statements: &[Stmt]) {
        match statements.last() {
            Some(Stmt::Expr(expr)) => match expr {
                Expr::Block(statements, _) => self.add(statements),
                // The result of a call is unknown here; it may be `()`.
                Expr::Call(..) | Expr::Dot(..) | Expr::Index(..) => {}
                value => self.gives = self.gives.or(Some(value.start_position())),
            },
            Some(Stmt::Block(statements, _)) => self.add(statements),
            Some(Stmt::If { then: first, otherwise: second, .. } | Stmt::Try { body: first, handler: second, .. }) => {
                self.add(first);
                self.add(second);
            }
            Some(Stmt::Switch { has_default, .. }) => self.falls |= !has_default,
            // A loop without a condition ends by `break` or `return`.
            Some(Stmt::Return { .. } | Stmt::While { condition: Expr::Unit(_) | Expr::Bool(true, _), .. }) => {}
            _ => self.falls = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    fn helper(body: &str) -> Vec<String> {
        let text =
            format!("/// Seen.\nfn seen(artifact, state, vars) {{ help(artifact) == 1 }}\nprivate fn help(a) {{ {body} }}");
        found(RULE.id, &Example::script(&text))
    }

    #[test]
    fn one_path_with_a_value_and_one_without() {
        for body in [
            "if a.match { return 1; }",
            "if a.match { 1 }",
            "for x in a.places { return 1; }",
            "if a.match { return 1; } let x = 2; x += 1;",
        ] {
            assert_eq!(helper(body), ["help"], "{body}");
        }
        for body in [
            "if a.match { return 1; } 2",
            "if a.match { 1 } else { 2 }",
            "if a.match { return 1; } ()",
            "if a.match { a.places.len() }",
            "let x = []; if a.match { x.push(1); }",
            "if a.match { return 1; } throw \"no\"",
            "if a.match { return; } let x = 1; x += 1;",
            "loop { if a.match { return 1; } }",
            "switch a.kind { \"new\" => 1, _ => 2 }",
        ] {
            assert_eq!(helper(body), [""; 0], "{body}");
        }
        let rule = Example::rule("if artifact.match { return true; }");
        assert_eq!(found(RULE.id, &rule), [""; 0], "of a rule nothing is a no");
    }
}
