//! `robustness/unguarded-index`: indexing of lists that may be empty.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::kind_at;
use crate::rule::{LintLevel, LintRule};
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/unguarded-index",
    level: LintLevel::Warning,
    summary: "an index into a list that may be empty",
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
            // The local name of the list, or of a selection of it.
            let called = &before[before.trim_end_matches(word).len()..];
            let above = &text[start..at];
            let variables = variables(above, name);
            let mut lists = [called, name].into_iter().chain(variables);
            let asked = lists.any(|list| ASKING.iter().any(|ask| above.contains(&format!("{list}{ask}"))))
                || above.contains(&format!("in {name}"))
                || above.contains(&format!("\"{name}\" in"))
                || above.contains(&format!(".{name} {{"))
                || ["max_by(", "min_by("].iter().any(|best| above.split(best).skip(1).any(|rest| argument(rest).ends_with(name)));
            if asked {
                continue;
            }
            let found = Diagnostic::warning(RULE.id, format!("`{}` may have no item {}", indexed.path, indexed.index));
            let found = found.label(&indexed.source, indexed.span, "an error if the item does not exist");
            report.push(found.help(format!(
                "check first: `{name}.len() > {}`, or use `get({})`, which returns `()`",
                indexed.index.max(0),
                indexed.index
            )));
        }
    }
}

/// What follows the name of a list where code checks its items or adds one.
const ASKING: &[&str] =
    &[".len()", ".len ", ".len;", ".is_empty", " == []", " != []", ".any(", ".some(", ".contains(", ".find(", ".push("];

/// The first argument of a call.
fn argument(rest: &str) -> &str {
    rest.split([',', ')']).next().unwrap_or_default().trim()
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
    use crate::testing::{Example, found};

    #[test]
    fn a_length_check_guards_an_index() {
        for body in [
            "if artifact.places.len() != 1 { return false; } artifact.places[0].weight > 0.0",
            "let all = artifact.places; if all.is_empty() { return false; } all[0].weight > 0.0",
            "artifact.places.any(|place| place.weight > 0.0)",
            "if !artifact.places.some(|place| place.weight > 0.0) { return false; } artifact.places[0].weight > 0.5",
            "if max_by(artifact.places, \"weight\") == () { return false; } artifact.places[0].weight > 0.5",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        assert_eq!(found(RULE.id, &Example::rule("let last = artifact.places[-1]; last.weight > 0.0")).len(), 1);
    }
}
