//! `correctness/signature-example`: examples of signatures that do not match as declared.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::texts;
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Source};
use asterisk_form::yaml::Yaml;
use asterisk_project::signature_reader;
use rayon::prelude::*;
use serde_json::{Value, json};

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/signature-example",
    level: LintLevel::Error,
    summary: "a signature that fails one of its examples",
    manual: include_str!("../../manual/correctness/signature-example.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let mut all: Vec<(&Source, &Yaml)> = Vec::new();
    for (source, yaml) in cx.data {
        let items = yaml.get("signatures").and_then(Yaml::as_list).unwrap_or_default();
        all.extend(items.iter().map(|item| (source, item)));
    }
    let found = all.par_iter().map(|(source, item)| {
        let mut found = FindingCollector::default();
        one(item, source, cx, &mut found);
        found.found
    });
    report.found.extend(found.collect::<Vec<_>>().into_iter().flatten());
}

/// Tries the examples of a signature, in the first domain that has the signature from this file.
fn one(item: &Yaml, source: &Source, cx: &LintContext<'_>, report: &mut FindingCollector) {
    let Some(id) = item.get("id").and_then(Yaml::as_text) else { return };
    let examples = ["accepts", "rejects"].map(|key| item.get(key).map_or_else(Vec::new, |list| texts(source, list)));
    if examples.iter().all(Vec::is_empty) {
        return;
    }
    let here = format!("data/{}:", source.name());
    let domain = cx.domains.iter().find(|domain| domain.places.get(id).is_some_and(|place| place.starts_with(&here)));
    let merged = domain.and_then(|domain| {
        let mut signatures = domain.value["signatures"].as_array()?.iter();
        signatures.find(|signature| signature["id"] == *id).cloned()
    });
    let signature = merged.unwrap_or_else(|| item.to_json());
    // A pattern that does not compile has been reported.
    let patterns: Vec<&str> = signature["patterns"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if patterns.is_empty() || patterns.iter().any(|pattern| asterisk_script::Pattern::read(pattern).is_err()) {
        return;
    }
    let texts: Vec<&str> = examples.iter().flatten().map(|(text, ..)| text.as_str()).collect();
    let matched = cx.examples.get(Hash::of_json(&json!([signature, texts])), || {
        let reader = signature_reader(&signature);
        texts.iter().map(|text| reader.is_matched(text)).collect()
    });
    let [accepts, rejects] = examples;
    let (accepted, rejected) = matched.split_at(accepts.len());
    for ((_, source, span), _) in accepts.into_iter().zip(accepted).filter(|(_, matched)| !**matched) {
        let found = Diagnostic::error(RULE.id, format!("the signature `{id}` does not match an example under `accepts`"));
        let help = "widen a pattern, or look at `unless_line`, `unless_text` and the anchors of the patterns; `:try` of the REPL shows \
                    what a line matches";
        report.push(found.label(&source, span, "not matched").help(help));
    }
    for ((_, source, span), _) in rejects.into_iter().zip(rejected).filter(|(_, matched)| **matched) {
        let found = Diagnostic::error(RULE.id, format!("the signature `{id}` matches an example under `rejects`"));
        report.push(found.label(&source, span, "matched").help("narrow the patterns, or exclude such lines with `unless_line`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ExampleFile;
    use crate::testing::{Example, found};

    fn of(signature: &str) -> Vec<String> {
        let text = format!("signatures:\n  - id: s\n{signature}");
        let file = ExampleFile { path: "scripts/data/signatures/own.yaml".into(), text };
        found(RULE.id, &Example::of(&[file]))
    }

    #[test]
    fn examples_respect_everything_that_suppresses_a_signature() {
        let refused = "    patterns: ['refused']\n    unless_line: 'retry'\n    unless_text: 'proxy'\n";
        let examples =
            "    accepts: ['it REFUSED', 'refused, retrying']\n    rejects: ['refused, retrying', \"refused\\nby a proxy\"]\n";
        assert_eq!(of(&format!("{refused}{examples}")), ["'refused, retrying'"]);
        assert_eq!(of("    patterns: ['a+b']\n    accepts: ['ab']\n    rejects: ['aab']\n"), ["'aab'"]);
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_not_reported_here() {
        assert_eq!(of("    patterns: ['(a']\n    accepts: ['b']\n"), [""; 0]);
        assert_eq!(of("    accepts: ['b']\n"), [""; 0]);
    }
}
