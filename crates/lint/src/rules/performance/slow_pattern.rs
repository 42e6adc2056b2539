//! `performance/slow-pattern`: patterns of signatures without a literal prefilter, which are tried on every line.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::texts;
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_evidence::required_literals;
use asterisk_form::yaml::Yaml;
use asterisk_script::Pattern;

pub(super) const RULE: LintRule = LintRule {
    id: "performance/slow-pattern",
    level: LintLevel::Note,
    summary: "a signature pattern without a literal, which is tried on every line",
    manual: include_str!("../../manual/performance/slow-pattern.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for (text, source, span) in cx.data.iter().flat_map(|(source, yaml)| patterns(source, yaml)) {
        if Pattern::read(&text).is_err() || required_literals(&text).is_some() {
            continue;
        }
        let found =
            Diagnostic::warning(RULE.id, "this pattern requires no literal of three characters: it is tried on every line");
        let help = "give every branch a literal of three letters or more, such as the name of the error";
        report.push(found.label(&source, span, "no literal").help(help));
    }
}

/// The patterns of signatures, including those under `markers`, which signatures refer to.
fn patterns(source: &Source, yaml: &Yaml) -> Vec<(String, Source, Span)> {
    let Some(signatures) = yaml.get("signatures").and_then(Yaml::as_list) else { return Vec::new() };
    let lists = signatures.iter().filter_map(|item| item.get("patterns"));
    lists.chain(yaml.get("markers")).flat_map(|list| texts(source, list)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ExampleFile;
    use crate::testing::{Example, found};

    #[test]
    fn every_branch_needs_a_literal() {
        let text = "markers:\n  soon: ['\\d+ (?:ms|s)']\nsignatures:\n  - id: s\n    patterns: ['no such file', 'a|no such', '(?:abc)?', 'E\\d{3}', '(']\n";
        let file = ExampleFile { path: "scripts/data/signatures/own.yaml".into(), text: text.into() };
        let mut slow = found(RULE.id, &Example::of(&[file]));
        slow.sort();
        assert_eq!(slow, ["'(?:abc)?'", "'E\\d{3}'", "'\\d+ (?:ms|s)'", "'a|no such'"]);
    }
}
