//! `robustness/unused-variable`: variables that are never read.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::text_of;
use asterisk_diag::{Diagnostic, Span};
use asterisk_script::Unit;
use asterisk_script::tree::{self, Function, Node, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/unused-variable",
    level: LintLevel::Warning,
    summary: "a variable that nothing reads",
    manual: include_str!("../../manual/robustness/unused-variable.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        for function in unit.tree().named() {
            let declared = declared(unit, function);
            if declared.is_empty() {
                continue;
            }
            let script = unit.script();
            let text = text_of(unit, function);
            let start = text.as_ptr() as usize - script.as_ptr() as usize;
            let end = start + text.len();
            let lexemes = unit.tokens().lexemes();
            let own = &lexemes
                [lexemes.partition_point(|one| one.span.start < start)..lexemes.partition_point(|one| one.span.start < end)];
            let word = |at: usize| own.get(at).map_or("", |one| &script[one.span.start..one.span.end]);
            for (name, place) in declared {
                // Every other occurrence of the name counts, in any block, except as a property and as the target of an
                // assignment.
                let read = (0..own.len()).any(|at| {
                    let field = at > 0 && matches!(word(at - 1), "." | "?.");
                    let key = word(at + 1) == ":" && at > 0 && matches!(word(at - 1), "#{" | ",");
                    let given = word(at + 1) == "=";
                    let declares = at > 0 && matches!(word(at - 1), "let" | "const");
                    word(at) == name && own[at].span.start != place && !(field || key || given || declares)
                });
                if read {
                    continue;
                }
                let (source, span) = unit.locate(Span::new(place, place + name.len()));
                let found = Diagnostic::warning(RULE.id, format!("nothing reads `{name}`"));
                report.push(
                    found
                        .label(&source, span, "never used")
                        .help(format!("remove it, or rename it to `_{name}` if this is intended")),
                );
            }
        }
    }
}

/// The variables declared by `let` in a function, with their offsets; closures are included.
fn declared(unit: &Unit, function: &Function) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    tree::each(&function.body, &mut |node| {
        if let Node::Stmt(Stmt::Var { name, .. }) = node
            && !name.text.starts_with('_')
        {
            found.push((name.text.to_string(), unit.tokens().offset(unit.script(), name.at)));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn every_use_counts() {
        for body in [
            "let x = artifact.match; x",
            "let x = 1; artifact.tries > x",
            "let x = \"a\"; `${x}` == artifact.label",
            "let x = 1; artifact.places.any(|place| place.weight > x)",
            "let _x = 1; artifact.match",
            "let list = []; list.push(1); artifact.match && list.len() > 0",
            "let m = #{}; m.to = artifact.label; m",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        for body in [
            "let x = 1; x = 2; artifact.match",
            "let x = 1; #{ because: artifact.label, context: #{ x: 3 } }",
            "let label = 1; artifact.label == \"x\"",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)).len(), 1, "{body}");
        }
    }
}
