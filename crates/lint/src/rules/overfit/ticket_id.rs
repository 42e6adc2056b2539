//! `overfit/ticket-id`: hard-coded ticket ids.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use crate::syntax::{strings, texts};
use asterisk_diag::Diagnostic;
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULE: LintRule = LintRule {
    id: "overfit/ticket-id",
    level: LintLevel::Warning,
    summary: "a ticket id in a script or data file",
    manual: include_str!("../../manual/overfit/ticket-id.md"),
    options: &[RuleOption {
        name: "standards",
        default: OptionDefault::Texts(&[
            "UTF", "SHA", "ISO", "RFC", "CVE", "HTTP", "TLS", "AES", "MD", "CP", "IEEE", "X", "BASE", "ASCII", "LATIN", "ORA",
        ]),
        doc: "Prefixes (the part before the dash) of names that are not tickets.",
    }],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let standards = RULE.texts(cx.config, "standards");
    let literals = cx.units.iter().filter(|unit| !is_test(unit.name())).flat_map(|unit| strings(unit));
    for (text, source, span) in literals.chain(cx.data.iter().flat_map(|(source, yaml)| texts(source, yaml))) {
        let Some(id) = ID.captures_iter(&text).find(|id| !standards.iter().any(|known| known == &id[1])) else { continue };
        let found = Diagnostic::warning(RULE.id, format!("`{}` is the id of a ticket", &id[0]));
        report.push(
            found
                .label(&source, span, "hard-coded here")
                .help("match the problem described in the ticket; put its id in a comment"),
        );
    }
}

/// The key of a tracker project and a number.
static ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b([A-Z][A-Z0-9]{1,9})-([0-9]{2,7})\b").expect("a pattern"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn names_of_standards_are_not_ticket_ids() {
        for text in ["UTF-16", "SHA-256", "ISO-8859-1", "a-12", "ABC-", "X-1", "error 1234-5678"] {
            assert_eq!(found(RULE.id, &Example::rule(&format!("artifact.label == \"{text}\""))), [""; 0], "{text}");
        }
        for text in ["see OPS-42", "https://tracker/browse/SHOP-1234", "(CNF2-12345)"] {
            assert_eq!(found(RULE.id, &Example::rule(&format!("artifact.label == \"{text}\""))).len(), 1, "{text}");
        }
    }
}
