//! `robustness/magic-threshold`: hard-coded thresholds in rules.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_project::FunctionUse;
use asterisk_script::check::Operand;

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/magic-threshold",
    level: LintLevel::Warning,
    summary: "an input compared with a number that should be a var",
    manual: include_str!("../../manual/robustness/magic-threshold.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for one in pipe.examined.iter().filter(|one| matches!(one.place, FunctionUse::Edge(_))) {
            for compared in &one.analysis.facts.compared {
                let ((Operand { path: Some(path), .. }, literal @ Operand { number: Some(_), .. })
                | (literal @ Operand { number: Some(_), .. }, Operand { path: Some(path), .. })) =
                    (&compared.left, &compared.right)
                else {
                    continue;
                };
                let number = literal.number.unwrap_or_default();
                let plain = [0.0, 1.0, -1.0].iter().any(|known: &f64| known.total_cmp(&number).is_eq());
                if plain || path.starts_with("vars.") || !(path.starts_with("artifact.") || path.starts_with("state.")) {
                    continue;
                }
                // An enumerated kind or code, not an amount.
                if matches!(compared.op.as_str(), "==" | "!=") {
                    continue;
                }
                let written = compared.source.slice(literal.span);
                let message = format!("`{path}` is compared with {written}, which cannot be set");
                let found = Diagnostic::warning(RULE.id, message).label(&compared.source, literal.span, "hard-coded here");
                let name = path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
                let mut near = pipe
                    .pipeline
                    .vars
                    .iter()
                    .filter(|(_, var)| var.default.as_f64().is_some_and(|var| var.total_cmp(&number).is_eq()));
                let help = match near.next() {
                    Some((var, _)) => format!("`vars.{var}` has that value"),
                    None => format!("declare a var, `vars: {{ {name}_enough: {written} }}`, and compare with it"),
                };
                report.push(found.help(help));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_thresholds_of_inputs_count() {
        for body in [
            "artifact.confidence > 0 && artifact.confidence < 1.0",
            "artifact.tries == 3",
            "artifact.places.len() >= 2",
            "let n = 5; artifact.tries + n > 7",
            "artifact.confidence >= vars.enough",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        for (body, want) in [
            ("artifact.tries > 3", "3"),
            ("0.25 < artifact.score", "0.25"),
            ("state.loops.again >= 2", "2"),
            ("let c = artifact.score; c > -0.5", "-0.5"),
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [want], "{body}");
        }
    }
}
