//! `correctness/bad-pattern`: regular expressions that do not compile: patterns of `regex_` functions, and constants and arguments
//! of other functions that look like patterns, since helpers pass them on.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};
use asterisk_script::Pattern;
use asterisk_script::tree::{CallExpr, Expr, Node, Position, Stmt};
use compact_str::CompactString;
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
        let mut texts = Vec::new();
        unit.tree().each(|node| match node {
            Node::Expr(Expr::Call(call, _)) => arguments(call, 1, &mut texts),
            Node::Expr(Expr::Method(call, _)) => arguments(call, 0, &mut texts),
            Node::Stmt(Stmt::Var { value: Expr::Text(text, at), constant: true, .. }) if is_like_pattern(text) => {
                texts.push((text.clone(), *at));
            }
            _ => {}
        });
        for (pattern, at) in texts {
            let Err(fault) = Pattern::read(&pattern) else { continue };
            let Some((source, span)) = unit.token(at) else { continue };
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
        }
        report.extend(found.into_values());
    }
}

/// The patterns among the arguments of a call: of a `regex_` function the one at `pattern`, of others those that look like one.
fn arguments(call: &CallExpr, pattern: usize, texts: &mut Vec<(CompactString, Position)>) {
    let is_function = call.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let of_regex = call.name.starts_with("regex_");
    for (index, argument) in call.args.iter().enumerate() {
        let Expr::Text(text, at) = argument else { continue };
        if of_regex && index == pattern || !of_regex && is_function && is_like_pattern(text) {
            texts.push((text.clone(), *at));
        }
    }
}

/// Whether a text contains syntax that only patterns use.
fn is_like_pattern(text: &str) -> bool {
    ["(?", "\\b", "\\d", "\\w", "\\s", "[^"].iter().any(|mark| text.contains(mark))
}
