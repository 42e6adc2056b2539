//! `overfit/one-case-literal`: strings that match only one known case.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::input::CaseText;
use crate::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use crate::syntax::alternatives;
use asterisk_diag::Diagnostic;
use asterisk_script::Unit;
use asterisk_script::tree::{Expr, Node, Position, Stmt};
use std::collections::BTreeMap;

pub(super) const RULE: LintRule = LintRule {
    id: "overfit/one-case-literal",
    level: LintLevel::Note,
    summary: "a string in a script that occurs in only one known case",
    manual: include_str!("../../manual/overfit/one-case-literal.md"),
    options: &[
        RuleOption { name: "min_cases", default: OptionDefault::Int(3), doc: "The minimum number of known cases." },
        RuleOption { name: "min_length", default: OptionDefault::Int(8), doc: "The minimum length of a string, in bytes." },
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
                let message = format!("of {} known cases, only `{}` contains this", cx.cases.len(), case.name);
                let one = Diagnostic::warning(RULE.id, message).label(&source, span, "fits one case");
                found.insert(span.start, one.help("search for the part that other failures of this kind share"));
            }
        });
        for (pattern, at) in pattern_constants(unit) {
            let one_case = |part: &String| cx.only_case(part, least).filter(|case| cx.is_of(part, case));
            let parts = alternatives(pattern);
            let Some((part, case)) = parts.iter().find_map(|part| Some((part, one_case(part)?))) else { continue };
            if let Some((source, span)) = unit.token(at) {
                let what = if parts.len() == 1 { "this".to_owned() } else { format!("the alternative `{part}` of this") };
                let message = format!("of {} known cases, only `{}` matches {what}", cx.cases.len(), case.name);
                let one = Diagnostic::warning(RULE.id, message).label(&source, span, "fits one case");
                found.insert(span.start, one.help("search for the part that other failures of this kind share"));
            }
        }
        report.extend(found.into_values());
    }
}

/// The constants of a script that look like patterns: verdict rules keep their patterns in constants.
fn pattern_constants(unit: &Unit) -> impl Iterator<Item = (&str, Position)> {
    unit.tree().statements.iter().filter_map(|statement| match statement {
        Stmt::Var { value: Expr::Text(text, at), constant: true, .. } => {
            let looks = text.starts_with("(?")
                || ["\\b", "\\w", "\\d", "\\s", ".{", ".*", ")|", "|("].iter().any(|part| text.contains(part));
            looks.then_some((text.as_str(), *at))
        }
        _ => None,
    })
}

/// Functions that search a text.
const SEARCHES: [&str; 6] = ["contains", "starts_with", "ends_with", "regex_is_match", "regex_find", "regex_captures"];

/// The only case that contains a text.
fn only<'c>(cx: &'c LintContext<'_>, text: &str, pattern: bool) -> Option<&'c CaseText> {
    if pattern {
        return cx.only_case(text, 0);
    }
    let text = text.to_lowercase();
    let mut having = cx.cases.iter().filter(|case| case.text.contains(&text));
    let first = having.next()?;
    having.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn the_alternatives_of_pattern_constants_are_looked_at() {
        let script = |pattern: &str| {
            let rule = "/// Seen.\nfn seen(artifact, state, vars) { artifact.label.regex_is_match(global::WORDS) }\n";
            found(RULE.id, &Example::script(&format!("// Words.\nconst WORDS = `{pattern}`;\n\n{rule}")))
        };
        assert_eq!(script(r"(?i)no such thing|\bledger-07\.example\b").len(), 1);
        assert_eq!(script(r"(?i)no such thing|\btimes out\b").len(), 0, "two cases have it");
        assert_eq!(script(r"(?i)no such thing|\bconnection to\b").len(), 0, "nothing of the case is in it");
    }
}
