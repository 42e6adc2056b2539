//! `routing/no-exit`: nodes where no edge fires for some artifact.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::{Formula, Solver, Term};
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "routing/no-exit",
    level: LintLevel::Warning,
    summary: "a node where no edge fires for some answer",
    manual: include_str!("../../manual/routing/no-exit.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        // A guard applies to every node, and pipelines with `after:` need no edges.
        if !pipeline.guards.is_empty() || pipeline.waves() {
            continue;
        }
        for node in pipeline.nodes.iter().filter(|node| node.fallback.is_none()) {
            let help = "give the node a `fallback:`, or add an edge for this";
            if node.edges.is_empty() {
                let found = Diagnostic::warning(RULE.id, format!("no edge leaves `{}`", *node.name));
                let found = found.label(&pipeline.source, node.name.span, "a walk that gets here ends with an error");
                report.push(found.help(format!("add an edge, if only to `{}`", *pipeline.done)));
                continue;
            }
            let none = Formula::all(node.edges.iter().map(|edge| pipe.fires[edge.0].clone().negated()));
            let Some(rule) = node.edges.iter().find_map(|edge| pipe.rule(*edge)) else { continue };
            let solver = Solver::example(rule);
            let Some(terms) = solver.terms(&none) else { continue };
            let exact = terms.into_iter().filter(Term::is_exact);
            let Some(words) = exact.filter_map(|term| solver.words(&term)).find(|words| !words.is_empty()) else { continue };
            let found = Diagnostic::warning(RULE.id, format!("no edge of `{}` fires where {words}", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "the walk would end here with an error");
            report.push(found.help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    fn exits(conditions: &[&str]) -> Vec<String> {
        let edge =
            |(at, condition): (usize, &&str)| format!("  - {{ id: E{at}, from: look, to: judge, condition: '{condition}' }}\n");
        found(RULE.id, &Example::edges(&conditions.iter().enumerate().map(edge).collect::<String>()))
    }

    #[test]
    fn gaps_are_found_and_full_coverage_is_accepted() {
        for gap in [
            &["match"][..],
            &["confidence > 0.5", "confidence < 0.5"],
            &["kind == \"new\""],
            &["match && confidence > 0.5", "!match"],
            &["state.loops.x < 2", "match"],
            &["tries > 0"],
        ] {
            assert_eq!(exits(gap), ["look"], "{gap:?}");
        }
        for covered in [
            &["match", "!match"][..],
            &["confidence >= 0.5", "confidence < 0.5"],
            &["kind == \"new\"", "kind == \"known\""],
            &["confidence >= 0"],
            &["places.any(|p| p.weight > 1.0)"],
            &["match", "true"],
            &["match", "vars.most > 0"],
        ] {
            assert_eq!(exits(covered), [""; 0], "{covered:?}");
        }
    }
}
