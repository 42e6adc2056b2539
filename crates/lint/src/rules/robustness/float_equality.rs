//! `robustness/float-equality`: floating-point numbers compared with `==`.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::kind_at;
use crate::rule::{LintLevel, LintRule};
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostic;
use asterisk_script::check::Operand;

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/float-equality",
    level: LintLevel::Warning,
    summary: "a floating-point number compared with `==`",
    manual: include_str!("../../manual/robustness/float-equality.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for one in &pipe.examined {
            let fraction = |side: &Operand| {
                let path = side.path.as_deref()?;
                let Kind::Number { min, max } = kind_at(&one.inputs, path)?.0 else { return None };
                (!path.starts_with("vars.")).then_some((path.to_owned(), *min, *max))
            };
            for compared in one.analysis.facts.compared.iter().filter(|compared| matches!(compared.op.as_str(), "==" | "!=")) {
                let (subject, other) = match (fraction(&compared.left), fraction(&compared.right)) {
                    (Some(subject), _) => (subject, &compared.right),
                    (None, Some(subject)) => (subject, &compared.left),
                    (None, None) => continue,
                };
                // An absent number reads as 0, and a bound may be hit exactly.
                let exact =
                    |number: f64| number.abs() < f64::MIN_POSITIVE || Some(number) == subject.1 || Some(number) == subject.2;
                let is_number = other.number.is_some() || other.path.as_deref().is_some_and(|path| is_number(&one.inputs, path));
                if !is_number || other.number.is_some_and(exact) {
                    continue;
                }
                let found = Diagnostic::warning(
                    RULE.id,
                    format!("`{}` is compared with `{}`, and is rarely exactly equal", subject.0, compared.op),
                );
                let found = found.label(&compared.source, compared.span, "exact comparison");
                report.push(found.help("use `>=` or `<`, or compare the distance with a tolerance: `(a - b).abs() < 0.001`"));
            }
        }
    }
}

fn is_number(inputs: &[(&'static str, Kind)], path: &str) -> bool {
    kind_at(inputs, path).is_some_and(|(kind, _)| matches!(kind, Kind::Number { .. } | Kind::Int { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn exact_values_are_accepted() {
        for body in [
            "artifact.confidence == 1.0",
            "artifact.score != 0.0",
            "artifact.tries == 2",
            "artifact.kind == \"new\"",
            "artifact.confidence >= vars.enough",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        for body in [
            "artifact.confidence == 0.5",
            "0.5 != artifact.score",
            "artifact.score == artifact.confidence",
            "let c = artifact.confidence; c == 0.5",
            "artifact.places.any(|p| p.weight == 0.5)",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)).len(), 1, "{body}");
        }
    }
}
