//! `correctness/never-true`: rules that can never fire.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::Solver;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::EdgeIx;

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/never-true",
    level: LintLevel::Warning,
    summary: "a rule or condition that can never be true",
    manual: include_str!("../../manual/correctness/never-true.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for (at, edge) in pipe.pipeline.edges.iter().enumerate() {
            let Some(rule) = pipe.rule(EdgeIx(at)) else { continue };
            // A finding about a part of the rule is more specific.
            let reported =
                rule.analysis.diagnostics.iter().any(|one| matches!(one.code.as_ref(), "rule/enum-value" | "rule/return"));
            if reported || !Solver::proof(rule).never(&pipe.fires[at]) {
                continue;
            }
            let mut named = rule.unit.tree().named().filter(|function| function.name() == rule.name);
            let Some((source, span)) = named.find_map(|function| rule.unit.definition(&function.head)) else { continue };
            let what = if rule.unit.is_condition() { "this condition".to_owned() } else { format!("`{}`", rule.name) };
            let found = Diagnostic::warning(RULE.id, format!("{what} never fires")).label(&source, span, "false for every input");
            let found = if rule.unit.is_condition() {
                found
            } else {
                found.label(&pipe.pipeline.source, edge.id.span, "so this edge is never taken")
            };
            report.push(found.help("check its comparisons: they contradict each other, or the schema"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn satisfiable_rules_are_accepted() {
        for body in [
            "artifact.confidence <= 0.8 && artifact.confidence >= vars.enough",
            "artifact.match && artifact.label != \"\"",
            "if artifact.kind == \"new\" { return false; } artifact.match",
            "let taken = state.loops.again; taken >= vars.most && artifact.match",
            "vars.most > 5 && artifact.match",
            "artifact.places.any(|place| place.weight > 1.0) && artifact.places.len() > 0",
            "artifact.kind == \"\"",
            "let x = artifact.match; x = !x; x && !artifact.match",
            "for place in artifact.places { if place.weight > 1.0 { return true; } } false",
            "if artifact.match { throw \"no\"; } false",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
    }

    #[test]
    fn contradictions_are_found_however_they_are_written() {
        for body in [
            "artifact.match && !artifact.match",
            "if artifact.match { return false; } if !artifact.match { return (); } true",
            "artifact.kind == \"new\" && artifact.kind == \"known\"",
            "artifact.confidence > 1",
            "artifact.tries > 2 && artifact.tries < 3",
            "artifact.places.len() < 0",
            "let c = artifact.confidence; if c >= 0.2 { return false; } #{ because: \"x\" }.because == \"\" && c > 0.5",
            "artifact.label in [\"a\", \"b\"] && artifact.label == \"c\"",
            "false",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), ["seen"], "{body}");
        }
    }
}
