//! `correctness/repeated-condition`: a condition equal to that of an earlier branch.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};
use asterisk_script::tree::{Node, Stmt};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/repeated-condition",
    level: LintLevel::Warning,
    summary: "the same condition twice in a chain of `else if`",
    manual: include_str!("../../manual/correctness/repeated-condition.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        let mut inner = BTreeSet::new();
        let mut found: Vec<Diagnostic> = Vec::new();
        unit.tree().each(|node| {
            let Node::Stmt(Stmt::If { condition, otherwise, at, .. }) = node else { return };
            if inner.contains(at) {
                return;
            }
            let mut seen: Vec<(String, Span)> = Vec::new();
            let (mut condition, mut otherwise) = (condition, otherwise);
            loop {
                if let Some(span) = unit.tokens().extent(unit.script(), condition) {
                    let text = unit.script()[span.start..span.end].to_owned();
                    if let Some((_, first)) = seen.iter().find(|(known, _)| *known == text) {
                        let (source, first) = unit.locate(*first);
                        let (_, span) = unit.locate(span);
                        let one =
                            Diagnostic::warning(RULE.id, "this branch is never taken: an earlier one has the same condition");
                        let one = one.label(&source, span, "again here").label(&source, first, "taken here");
                        found.push(one.help("one of them should test something else"));
                    }
                    seen.push((text, span));
                }
                let [Stmt::If { condition: next, otherwise: last, at, .. }] = otherwise.as_slice() else { break };
                inner.insert(*at);
                (condition, otherwise) = (next, last);
            }
        });
        report.extend(found);
    }
}
