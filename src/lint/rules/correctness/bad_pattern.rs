//! `correctness/bad-pattern`: regular expressions that do not compile.

use crate::diag::{Diagnostic, Span};
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::script::Pattern;
use crate::script::tree::{Expr, Node};
use std::collections::BTreeMap;

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/bad-pattern",
    level: LintLevel::Error,
    summary: "a regular expression that does not compile",
    manual: include_str!("../../manual/correctness/bad-pattern.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in cx.units.iter().copied().chain(cx.library.conditions()) {
        let mut found: BTreeMap<usize, Diagnostic> = BTreeMap::new();
        unit.tree().each(|node| {
            let (call, pattern) = match node {
                Node::Expr(Expr::Call(call, _)) => (call, call.args.get(1)),
                Node::Expr(Expr::Method(call, _)) => (call, call.args.first()),
                _ => return,
            };
            let Some(Expr::Text(pattern, at)) = pattern.filter(|_| call.name.starts_with("regex_")) else { return };
            let Err(fault) = Pattern::read(pattern) else { return };
            let Some((source, span)) = unit.token(*at) else { return };
            let one = Diagnostic::error(RULE.id, format!("this pattern does not compile: {}", fault.message));
            let written = source.slice(span);
            // In a literal without escapes the position within the pattern is known.
            let exact = written.get(1..written.len().saturating_sub(1)) == Some(pattern.as_str());
            let inside = Span::new(span.start + 1 + fault.span.start, span.start + 1 + fault.span.end.max(fault.span.start + 1));
            let label = if exact && inside.end < span.end { inside } else { span };
            let one = one
                .label(&source, label, "here")
                .help("see `asterisk doc patterns` for the syntax; a string in backticks needs no doubled backslashes");
            found.insert(span.start, one);
        });
        report.extend(found.into_values());
    }
}
