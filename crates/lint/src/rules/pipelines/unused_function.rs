//! `pipelines/unused-function`: functions that are never called.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::{name_of, takes_rule_inputs};
use asterisk_diag::Diagnostic;
use asterisk_script::Unit;
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/unused-function",
    level: LintLevel::Warning,
    summary: "a function that nothing calls",
    manual: include_str!("../../manual/pipelines/unused-function.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let named: BTreeSet<(&str, &str)> = cx.examined().map(|one| (one.unit.name(), one.name.as_str())).collect();
    let texts: Vec<&str> = cx.units.iter().map(|unit| unit.script()).collect();
    for unit in cx.units.iter().filter(|unit| is_test(unit.name())) {
        let functions =
            unit.tree().named().filter(|function| !function.name().starts_with("test_") && function.params.is_empty());
        for function in
            functions.filter(|function| mentions(unit.script(), function.name()) <= definitions(unit, function.name()))
        {
            let (source, span) = name_of(unit, function);
            let found = Diagnostic::warning(RULE.id, format!("`{}` is not a test, and nothing calls it", function.name()));
            report.push(found.label(&source, span, "never run").help("the names of tests begin with `test_`"));
        }
    }
    for unit in cx.units.iter().filter(|unit| !is_test(unit.name())) {
        let of_rules = named.iter().any(|(file, _)| *file == unit.name());
        for function in unit.tree().named() {
            let is_rule = takes_rule_inputs(function);
            let name = function.name();
            let lost = if function.private {
                mentions(unit.script(), name) <= definitions(unit, name)
            } else {
                cx.whole
                    && of_rules
                    && is_rule
                    && !named.contains(&(unit.name(), name))
                    && texts.iter().map(|text| mentions(text, name)).sum::<usize>() <= definitions(unit, name)
            };
            if lost {
                let (source, span) = name_of(unit, function);
                let found = Diagnostic::warning(RULE.id, format!("nothing calls `{name}`"));
                report.push(
                    found.label(&source, span, "defined here").help("remove it, or call it where it was meant to be called"),
                );
            }
        }
    }
}

/// The number of occurrences of a word in a text, including comments: a function mentioned there may be called dynamically.
fn mentions(text: &str, name: &str) -> usize {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: &usize| !text[..*at].ends_with(word) && !text[at + name.len()..].starts_with(word);
    let code = |at: &usize| {
        let line = text[..*at].rfind('\n').map_or(0, |start| start + 1);
        !text[line..*at].trim_start().starts_with("//")
    };
    text.match_indices(name).map(|(at, _)| at).filter(whole).filter(code).count()
}

fn definitions(unit: &Unit, name: &str) -> usize {
    unit.tree().named().filter(|function| function.name() == name).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn every_call_counts_as_use() {
        let with =
            |more: &str| format!("/// Seen.\nfn seen(artifact, state, vars) {{ artifact.match && help(artifact) }}\n{more}");
        let used = with("private fn help(a) { other(a) }\nprivate fn other(a) { a.match }");
        assert_eq!(found(RULE.id, &Example::script(&used)), [""; 0]);
        let lost = with("private fn help(a) { a.match }\nprivate fn other(a) { a.match } // other is a word");
        assert_eq!(found(RULE.id, &Example::script(&lost)).len(), 0, "a remark behind the code counts as a use");
        let lost = with("private fn help(a) { a.match }\n// other\nprivate fn other(a) { a.match }\nfn lib(x) { x }");
        assert_eq!(found(RULE.id, &Example::script(&lost)), ["other"]);
    }
}
