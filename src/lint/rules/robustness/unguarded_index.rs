//! `robustness/unguarded-index`: indexing of lists that may be empty.

use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::model::kind_at;
use crate::lint::rule::{LintLevel, LintRule};
use crate::model::Kind;

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/unguarded-index",
    level: LintLevel::Warning,
    summary: "an item of a list that may be empty",
    manual: include_str!("../../manual/robustness/unguarded-index.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined() {
        // A team always has walkers.
        for indexed in one.analysis.facts.indexed.iter().filter(|indexed| indexed.path != "ctx.walkers") {
            if kind_at(&one.inputs, &indexed.path).is_none_or(|(kind, _)| !matches!(kind, Kind::List(_))) {
                continue;
            }
            let name = indexed.path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
            let (text, at) = (indexed.source.text(), indexed.span.start);
            let start = text[..at].rfind("fn ").unwrap_or(0);
            let word = |ch: char| ch.is_alphanumeric() || ch == '_';
            let before = text[..at].trim_end_matches(['[', '(', '-', ' ']);
            // What the list is called here, which may be a selection of it.
            let called = &before[before.trim_end_matches(word).len()..];
            let asked = [".len()", ".is_empty"].iter().any(|ask| text[start..at].contains(&format!("{called}{ask}")))
                || [".len()", ".len ", ".is_empty", ".len;", " == []", " != []"]
                    .iter()
                    .any(|ask| text[start..at].contains(&format!("{name}{ask}")))
                || variables(&text[start..at], name).iter().any(|variable| {
                    [".len()", ".is_empty"].iter().any(|ask| text[start..at].contains(&format!("{variable}{ask}")))
                })
                || text[start..at].contains(&format!("in {name}"))
                || text[start..at].contains(&format!(".{name} {{"));
            if asked {
                continue;
            }
            let found = Diagnostic::warning(RULE.id, format!("`{}` may have no item {}", indexed.path, indexed.index));
            let found = found.label(&indexed.source, indexed.span, "an error if there is no such item");
            report.push(found.help(format!(
                "ask first: `{name}.len() > {}`, or take it by `get({})`, which gives `()`",
                indexed.index.max(0),
                indexed.index
            )));
        }
    }
}

/// The variables that a field was assigned to.
fn variables<'t>(text: &'t str, field: &str) -> Vec<&'t str> {
    let ends = |line: &str| line.trim_end().trim_end_matches(';').ends_with(&format!(".{field}"));
    let named = |line: &'t str| line.trim_start().strip_prefix("let ")?.split([' ', '=']).next();
    text.split_inclusive([';', '\n', '{', '}']).filter(|line| ends(line)).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::testing::{Example, found};

    #[test]
    fn a_length_check_guards_an_index() {
        for body in [
            "if artifact.places.len() != 1 { return false; } artifact.places[0].weight > 0.0",
            "let all = artifact.places; if all.is_empty() { return false; } all[0].weight > 0.0",
            "artifact.places.any(|place| place.weight > 0.0)",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        assert_eq!(found(RULE.id, &Example::rule("let last = artifact.places[-1]; last.weight > 0.0")).len(), 1);
    }
}
