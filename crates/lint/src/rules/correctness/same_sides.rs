//! `correctness/same-sides`: operators with equal operands.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};
use asterisk_script::tree::{Expr, Node, Position};
use std::collections::BTreeMap;

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/same-sides",
    level: LintLevel::Warning,
    summary: "an operator with the same operand on both sides",
    manual: include_str!("../../manual/correctness/same-sides.md"),
    options: &[],
    check: Some(check),
};

/// Calls that return a different value each time.
const CHANGING: [&str; 3] = ["pop(", "shift(", "remove("];

/// Comparison operators.
const COMPARES: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in cx.units.iter().copied().chain(cx.library.conditions()) {
        let mut texts: BTreeMap<Span, Diagnostic> = BTreeMap::new();
        unit.tree().each(|node| {
            let (at, sides): (Position, &[Expr]) = match node {
                Node::Expr(Expr::Call(call, at)) if call.operator && COMPARES.contains(&call.name.as_str()) => (*at, &call.args),
                Node::Expr(Expr::And(sides, at) | Expr::Or(sides, at)) => (*at, sides),
                _ => return,
            };
            let text = |side: &Expr| {
                unit.tokens().extent(unit.script(), side).map(|span| unit.script()[span.start..span.end].trim().to_owned())
            };
            let texts_of: Vec<Option<String>> = sides.iter().map(text).collect();
            let twin = texts_of.iter().enumerate().find_map(|(at, one)| {
                let one = one.as_ref()?;
                texts_of[..at].iter().flatten().any(|before| before == one).then_some((at, one))
            });
            let Some((second, text)) = twin else { return };
            // An expression with such a call is not equal to itself.
            if CHANGING.iter().any(|call| text.contains(call)) {
                return;
            }
            let Some((source, span)) = unit.extent(&sides[second]) else { return };
            let message = format!("`{text}` is on both sides");
            let mut one = Diagnostic::warning(RULE.id, message).label(&source, span, "the same again");
            if let Some((source, span)) = unit.token(at) {
                one = one.label(&source, span, "of this");
            }
            texts.entry(span).or_insert_with(|| one.help("one side should be something else, or one is enough"));
        });
        report.extend(texts.into_values());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn equal_operands_are_found_and_nothing_else() {
        for (body, want) in [
            ("artifact.match || artifact.kind == \"new\" || artifact.match", "artifact.match"),
            ("artifact.places.len() == artifact.places.len()", "artifact.places.len()"),
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [want], "{body}");
        }
        for body in ["artifact.match && artifact.label == \"match\"", "artifact.confidence + artifact.confidence > vars.enough"] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
    }
}
