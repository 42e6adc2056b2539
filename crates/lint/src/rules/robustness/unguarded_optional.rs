//! `robustness/unguarded-optional`: comparisons of optional numbers that hold when the number is absent.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::kind_at;
use crate::rule::{LintLevel, LintRule};
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostic;
use asterisk_project::FunctionUse;
use asterisk_script::check::Operand;

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/unguarded-optional",
    level: LintLevel::Warning,
    summary: "a comparison that holds when its optional number is absent",
    manual: include_str!("../../manual/robustness/unguarded-optional.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for one in pipe.examined.iter().filter(|one| matches!(one.place, FunctionUse::Edge(_))) {
            for compared in &one.analysis.facts.compared {
                let number = |side: &Operand| {
                    let var = side.path.as_deref().and_then(|path| path.strip_prefix("vars."));
                    side.number.or_else(|| pipe.pipeline.vars.get(var?)?.default.as_f64())
                };
                let optional = |side: &Operand| {
                    let path = side.path.clone()?;
                    let (kind, required) = kind_at(&one.inputs, &path)?;
                    let amount = matches!(kind, Kind::Number { .. } | Kind::Int { .. });
                    (amount && !required && path.starts_with("artifact.") && !path.contains("[]")).then_some(path)
                };
                let (path, span, passes) = if let (Some(path), Some(other)) = (optional(&compared.left), number(&compared.right))
                {
                    (path, compared.left.span, holds(&compared.op, 0.0, other))
                } else if let (Some(path), Some(other)) = (optional(&compared.right), number(&compared.left)) {
                    (path, compared.right.span, holds(&compared.op, other, 0.0))
                } else {
                    continue;
                };
                let name = path.rsplit('.').next().unwrap_or_default();
                if !passes || guarded(compared.source.text(), compared.span.start, &path, name) {
                    continue;
                }
                let found = Diagnostic::warning(RULE.id, format!("`{path}` is optional: this also holds where it is absent"));
                let found = found.label(&compared.source, span, "reads as 0 then");
                report.push(
                    found.help(format!("check that it is present, `contains(\"{name}\")`, or make it required in the schema")),
                );
            }
        }
    }
}

fn holds(op: &str, left: f64, right: f64) -> bool {
    match op {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        _ => false,
    }
}

/// Whether the surrounding text checks the field in another way: its presence, or whether it is above 0.
fn guarded(text: &str, at: usize, path: &str, name: &str) -> bool {
    let start = text[..at].rfind("\nfn ").or_else(|| text[..at].rfind("fn ")).unwrap_or(0);
    let end = text[at..].find("\n}").map_or(text.len(), |end| at + end);
    let around = &text[start..end];
    let field = path.strip_prefix("artifact.").unwrap_or(path);
    [format!("\"{name}\""), format!("{field} != 0"), format!("{field} > 0"), format!("{field} == 0"), format!("{field} != ()")]
        .iter()
        .any(|guard| around.contains(guard.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_comparisons_that_hold_without_a_value() {
        for body in [
            "artifact.score >= vars.enough",
            "artifact.confidence < vars.enough",
            "artifact.score > 0.0 && artifact.score < vars.enough",
            "if !(\"score\" in artifact) { return false; } artifact.score < vars.enough",
            "artifact.score < -1.0",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        for body in ["artifact.tries <= vars.most", "vars.enough > artifact.score"] {
            assert_eq!(found(RULE.id, &Example::rule(body)).len(), 1, "{body}");
        }
    }
}
