//! `routing/overlapping-conditions`: conditions that overlap partially.

use crate::context::LintContext;
use crate::context::LintedPipeline;
use crate::finding::FindingCollector;
use crate::model::{Formula, Solver};
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::EdgeIx;

pub(super) const RULE: LintRule = LintRule {
    id: "routing/overlapping-conditions",
    level: LintLevel::Warning,
    summary: "two edges with different targets whose conditions partly overlap",
    manual: include_str!("../../manual/routing/overlapping-conditions.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        for node in &pipeline.nodes {
            for (nth, second) in node.edges.iter().enumerate() {
                for first in &node.edges[..nth] {
                    let (one, other) = (pipeline.edge_at(*first), pipeline.edge_at(*second));
                    if one.choices().eq(other.choices()) || one.parallel && other.parallel {
                        continue;
                    }
                    let Some(words) = overlap(pipe, *first, *second) else { continue };
                    let message = format!("the conditions of `{}` and `{}` overlap: both fire where {words}", *one.id, *other.id);
                    let found = Diagnostic::warning(RULE.id, message);
                    let found = found.label(&pipeline.source, other.id.span, "taken only where the other does not fire");
                    let found = found.label(&pipeline.source, one.id.span, "tried first");
                    report.push(found.help("make them exclude each other, or drop the part that the order already decides"));
                }
            }
        }
    }
}

/// An example where two edges both fire, if each also fires alone and they test the same inputs.
fn overlap(pipe: &LintedPipeline<'_>, first: EdgeIx, second: EdgeIx) -> Option<String> {
    let (one, other) = (&pipe.fires[first.0], &pipe.fires[second.0]);
    if !one.is_exact() || !other.is_exact() || one.subjects().is_empty() || one.subjects() != other.subjects() {
        return None;
    }
    let solver = Solver::example(pipe.rule(second)?);
    let somewhere = |formula: Formula| solver.terms(&formula)?.into_iter().next();
    somewhere(Formula::all([one.clone(), other.clone().negated()]))?;
    somewhere(Formula::all([other.clone(), one.clone().negated()]))?;
    solver.words(&somewhere(Formula::all([one.clone(), other.clone()]))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    fn edges(first: &str, second: &str) -> Vec<String> {
        let one =
            |id: &str, to: &str, condition: &str| format!("  - {{ id: {id}, from: look, to: {to}, condition: '{condition}' }}\n");
        let text = format!("{}{}", one("A", "judge", first), one("B", "_done", second));
        found(RULE.id, &Example::edges(&text))
    }

    #[test]
    fn partial_overlaps_of_the_same_fields_count() {
        assert_eq!(edges("confidence >= 0.5", "confidence < 0.8"), ["B"]);
        assert_eq!(edges("kind != \"new\"", "kind != \"known\" "), [""; 0], "the two are all there is");
        for (first, second) in [
            ("confidence >= 0.8", "confidence < 0.8"),
            ("confidence >= 0.8", "confidence >= 0.5"),
            ("match", "confidence > 0.5"),
            ("places.any(|p| p.weight > 1.0)", "!match"),
            ("match && confidence >= 0.8", "!match || confidence < 0.8"),
        ] {
            assert_eq!(edges(first, second), [""; 0], "{first} | {second}");
        }
    }
}
