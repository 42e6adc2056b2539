//! `docs/test-without-assertion`: tests without an assertion.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::{name_of, text_of};
use asterisk_diag::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const RULE: LintRule = LintRule {
    id: "docs/test-without-assertion",
    level: LintLevel::Warning,
    summary: "a test without an assertion",
    manual: include_str!("../../manual/docs/test-without-assertion.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in cx.units.iter().filter(|unit| is_test(unit.name())) {
        let mut called: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for function in unit.tree().named() {
            let names = called.entry(function.name()).or_default();
            // Closures are separate functions in the tree; the text includes them.
            let text = text_of(unit, function);
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            names.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        for function in unit.tree().named().filter(|function| function.name().starts_with("test_")) {
            let (mut seen, mut open) = (BTreeSet::new(), vec![function.name()]);
            let mut asserts = false;
            while let Some(name) = open.pop() {
                for word in called.get(name).into_iter().flatten() {
                    asserts |= word.starts_with("assert");
                    if let Some((own, _)) = called.get_key_value(word.as_str())
                        && seen.insert(*own)
                    {
                        open.push(own);
                    }
                }
            }
            if asserts || text_of(unit, function).contains("throw") {
                continue;
            }
            let (source, span) = name_of(unit, function);
            let found = Diagnostic::warning(RULE.id, format!("`{}` asserts nothing", function.name()));
            report.push(found.label(&source, span, "a test").help("add an assertion: `assert_eq(got, want)`"));
        }
    }
}
