//! `overfit/one-case-pattern`: patterns that match only one known case.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use crate::syntax::{alternatives, texts};
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_form::yaml::Yaml;

pub(super) const RULE: LintRule = LintRule {
    id: "overfit/one-case-pattern",
    level: LintLevel::Note,
    summary: "a pattern in a data file that matches only one known case",
    manual: include_str!("../../manual/overfit/one-case-pattern.md"),
    options: &[
        RuleOption { name: "min_cases", default: OptionDefault::Int(3), doc: "The minimum number of known cases." },
        RuleOption { name: "min_length", default: OptionDefault::Int(12), doc: "The minimum length of a match, in bytes." },
    ],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    if cx.cases.len() < RULE.number(cx.config, "min_cases") {
        return;
    }
    let least = RULE.number(cx.config, "min_length");
    for (source, yaml) in cx.data {
        for (text, source, span) in under(source, yaml) {
            let one_case = |pattern: &String| cx.only_case(pattern, least).filter(|case| cx.is_of(pattern, case));
            let Some(case) = alternatives(&text).iter().find_map(one_case) else { continue };
            let message = format!("of {} known cases, only `{}` matches this", cx.cases.len(), case.name);
            let found = Diagnostic::warning(RULE.id, message).label(&source, span, "fits one case");
            report.push(found.help("leave out what differs between failures: names, numbers, paths"));
        }
    }
}

/// The strings under keys that hold patterns.
fn under(source: &Source, yaml: &Yaml) -> Vec<(String, Source, Span)> {
    let Some(entries) = yaml.as_map() else {
        return yaml.as_list().unwrap_or_default().iter().flat_map(|item| under(source, item)).collect();
    };
    let mut found = Vec::new();
    for entry in entries {
        if matches!(entry.key.as_str(), "patterns" | "markers" | "pattern") {
            found.extend(texts(source, &entry.value));
        } else {
            found.extend(under(source, &entry.value));
        }
    }
    found
}
