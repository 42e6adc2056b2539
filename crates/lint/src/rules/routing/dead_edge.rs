//! `routing/dead-edge`: edges that are unreachable, because whenever they fire an earlier edge of the node has fired.

use crate::context::LintContext;
use crate::context::LintedPipeline;
use crate::finding::FindingCollector;
use crate::model::{Formula, Solver};
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::EdgeIx;

pub(super) const RULE: LintRule = LintRule {
    id: "routing/dead-edge",
    level: LintLevel::Warning,
    summary: "an edge that is never taken, because earlier ones always fire first",
    manual: include_str!("../../manual/routing/dead-edge.md"),
    options: &[],
    check: Some(check),
};

/// Finds edges of a node whose condition cannot hold unless that of an earlier edge holds too.
fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        for node in &pipeline.nodes {
            for (nth, at) in node.edges.iter().enumerate().skip(1) {
                let edge = pipeline.edge_at(*at);
                // Parallel edges do not exclude each other.
                let first = |other: &&EdgeIx| !(edge.parallel && pipeline.edge_at(**other).parallel);
                let before: Vec<EdgeIx> = node.edges[..nth].iter().filter(first).copied().collect();
                // An edge whose own condition never holds is found by `correctness/never-true`.
                let own = &pipe.fires[at.0];
                let alone = pipe.rule(*at).is_some_and(|rule| Solver::proof(rule).never(own));
                let always = before.iter().find(|other| pipe.fires[other.0] == Formula::True);
                let left = Formula::all(
                    [own.clone()].into_iter().chain(before.iter().map(|other| pipe.fires[other.0].clone().negated())),
                );
                let some_rule = pipe.rule(*at).or_else(|| before.iter().find_map(|other| pipe.rule(*other)));
                let dead = always.is_some() || some_rule.is_some_and(|rule| Solver::proof(rule).never(&left));
                if alone || !dead {
                    continue;
                }
                let found = Diagnostic::warning(RULE.id, format!("the edge `{}` is never taken", *edge.id));
                let found = found.label(&pipeline.source, edge.id.span, "never taken");
                let found = match always {
                    Some(other) => {
                        let other = pipeline.edge_at(*other);
                        found.label(&pipeline.source, other.id.span, "always taken before it")
                    }
                    None => before.iter().filter(|other| meets(pipe, **other, own)).fold(found, |found, other| {
                        found.label(&pipeline.source, pipeline.edge_at(*other).id.span, "taken before it")
                    }),
                };
                report.push(found.help("move it before them, or remove it"));
            }
        }
    }
}

/// Whether an edge may fire where the other does too.
fn meets(pipe: &LintedPipeline<'_>, edge: EdgeIx, own: &Formula) -> bool {
    let both = Formula::all([pipe.fires[edge.0].clone(), own.clone()]);
    pipe.rule(edge).is_none_or(|rule| !Solver::proof(rule).never(&both))
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
    fn an_edge_is_dead_if_earlier_ones_cover_it() {
        assert_eq!(edges("confidence >= 0.5", "confidence >= 0.7"), ["B"]);
        assert_eq!(edges("true", "match"), ["B"]);
        assert_eq!(edges("match || confidence > 0.1", "match && label == \"x\""), ["B"]);
        assert_eq!(edges("places.any(|p| p.weight > 1.0)", "places.any(|p| p.weight > 1.0) && match"), ["B"]);
    }

    #[test]
    fn reachable_edges_are_accepted() {
        assert_eq!(edges("confidence >= 0.7", "confidence >= 0.5"), [""; 0]);
        assert_eq!(edges("match", "!match"), [""; 0]);
        assert_eq!(edges("match && confidence > 0.5", "match"), [""; 0]);
        assert_eq!(edges("places.any(|p| p.weight > 1.0)", "places.any(|p| p.weight > 2.0)"), [""; 0]);
        assert_eq!(edges("vars.most > 0", "match"), [""; 0], "a var may be set otherwise");
    }
}
