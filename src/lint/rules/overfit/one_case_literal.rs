//! `overfit/one-case-literal`: strings that match only one known case.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::gather::is_test;
use crate::lint::input::CaseText;
use crate::lint::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use crate::script::Pattern;
use crate::script::tree::{Expr, Node};
use std::collections::BTreeMap;

pub(super) const RULE: LintRule = LintRule {
    id: "overfit/one-case-literal",
    level: LintLevel::Note,
    summary: "a text of a script that occurs in one known case only",
    manual: include_str!("../../manual/overfit/one-case-literal.md"),
    options: &[
        RuleOption { name: "min_cases", default: OptionDefault::Int(3), doc: "From how many known cases on it is looked for." },
        RuleOption { name: "min_length", default: OptionDefault::Int(8), doc: "The least bytes of a text." },
    ],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    if cx.cases.len() < RULE.number(cx.config, "min_cases") {
        return;
    }
    let least = RULE.number(cx.config, "min_length");
    for unit in cx.units.iter().filter(|unit| !is_test(unit.name())) {
        let mut found: BTreeMap<usize, Diagnostic> = BTreeMap::new();
        unit.tree().each(|node| {
            let (call, at) = match node {
                Node::Expr(Expr::Call(call, _)) => (call, 1),
                Node::Expr(Expr::Method(call, _)) => (call, 0),
                _ => return,
            };
            if !SEARCHES.contains(&call.name.as_str()) {
                return;
            }
            let Some(Expr::Text(text, at)) = call.args.get(at) else { return };
            let pattern = call.name.starts_with("regex_");
            if text.len() < least {
                return;
            }
            let Some(case) = only(cx, text, pattern).filter(|case| cx.is_of(text, case)) else { return };
            if let Some((source, span)) = unit.token(*at) {
                let message = format!("of {} known cases only `{}` has this", cx.cases.len(), case.name);
                let one = Diagnostic::warning(RULE.id, message).label(&source, span, "fits one case");
                found.insert(span.start, one.help("look for the part that other failures of the kind have too"));
            }
        });
        report.extend(found.into_values());
    }
}

/// Functions that search a text.
const SEARCHES: [&str; 6] = ["contains", "starts_with", "ends_with", "regex_is_match", "regex_find", "regex_captures"];

/// The only case that contains a text.
fn only<'c>(cx: &'c LintContext<'_>, text: &str, pattern: bool) -> Option<&'c CaseText> {
    if pattern {
        let all = || cx.cases.iter().map(|case| case.text.as_str());
        if Pattern::read(text).is_err() || Pattern::matches(text, all()) != 1 {
            return None;
        }
        return cx.cases.iter().find(|case| Pattern::matches(text, std::iter::once(case.text.as_str())) == 1);
    }
    let text = text.to_lowercase();
    let mut having = cx.cases.iter().filter(|case| case.text.contains(&text));
    let first = having.next()?;
    having.next().is_none().then_some(first)
}
