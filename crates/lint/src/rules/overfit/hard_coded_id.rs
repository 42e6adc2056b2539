//! `overfit/hard-coded-id`: hard-coded ids of one run, commit or machine.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::{strings, texts};
use asterisk_diag::Diagnostic;
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULE: LintRule = LintRule {
    id: "overfit/hard-coded-id",
    level: LintLevel::Warning,
    summary: "a UUID, commit or address in a script or data file",
    manual: include_str!("../../manual/overfit/hard-coded-id.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let literals = cx.units.iter().filter(|unit| !is_test(unit.name())).flat_map(|unit| strings(unit));
    for (text, source, span) in literals.chain(cx.data.iter().flat_map(|(source, yaml)| texts(source, yaml))) {
        let Some((what, id)) = IDS.iter().find_map(|(what, pattern)| Some((*what, pattern.find(&text)?))) else { continue };
        if what == ADDRESS && ["127.", "0.", "10.", "192.168.", "255."].iter().any(|known| id.as_str().starts_with(known)) {
            continue;
        }
        let found = Diagnostic::warning(RULE.id, format!("`{}` is {what} of one run or machine", id.as_str()));
        report.push(
            found.label(&source, span, "hard-coded here").help("match its format with a pattern, or match the text around it"),
        );
    }
}

const ADDRESS: &str = "an address";

static IDS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let pattern = |what, pattern| (what, Regex::new(pattern).expect("a pattern"));
    vec![
        pattern("a UUID", r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
        pattern("a commit", r"\b[0-9a-f]{40}\b"),
        pattern(ADDRESS, r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b"),
    ]
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn universal_addresses_are_allowed() {
        for text in ["127.0.0.1:8080", "0.0.0.0", "version 1.2.3", "deadbeef"] {
            assert_eq!(found(RULE.id, &Example::rule(&format!("artifact.label == \"{text}\""))), [""; 0], "{text}");
        }
        for text in ["node 34.117.59.81", "0123456789abcdef0123456789abcdef01234567"] {
            assert_eq!(found(RULE.id, &Example::rule(&format!("artifact.label == \"{text}\""))).len(), 1, "{text}");
        }
    }
}
