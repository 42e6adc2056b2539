//! `verdicts/twin-rules`: verdict rules, or signatures, that always match together.

use super::{LinkedVerdictRule, linked};
use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::{text_of, texts};
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_form::yaml::Yaml;
use std::collections::BTreeMap;

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/twin-rules",
    level: LintLevel::Warning,
    summary: "two verdict rules, or two signatures, that always match together",
    manual: include_str!("../../manual/verdicts/twin-rules.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let mut seen: BTreeMap<(String, String), Span> = BTreeMap::new();
        for one in linked(pipe) {
            let span = one.rule.id.span;
            let Some(first) = seen.get(&body(&one)).copied() else {
                seen.insert(body(&one), span);
                continue;
            };
            let source = &pipe.pipeline.source;
            let other = source.slice(first);
            let message =
                format!("the rule `{}` matches whenever `{other}` does: `{}` has the same code", &*one.rule.id, &*one.rule.rule);
            report.push(twin(message, (source, span), (source, first)));
        }
    }
    let mut seen: BTreeMap<(String, Vec<String>), (Source, Span)> = BTreeMap::new();
    for (source, yaml) in cx.data {
        for item in yaml.get("signatures").and_then(Yaml::as_list).unwrap_or_default() {
            let Some((id, place)) = item.get("id").and_then(|id| Some((id.as_text()?, id.span))) else { continue };
            let Some(patterns) = item.get("patterns") else { continue };
            let mut patterns: Vec<String> = texts(source, patterns).into_iter().map(|(text, ..)| text).collect();
            patterns.sort();
            let conditions = ["markers", "unless_line", "unless_retried", "unless_text", "weak"];
            let conditions: Vec<String> =
                conditions.iter().filter_map(|key| Some(item.get(key)?.to_json().to_string())).collect();
            if patterns.is_empty() {
                continue;
            }
            let key = (conditions.join("\n"), patterns);
            match seen.get(&key) {
                // A project's file changes a signature by its id.
                Some((first, span)) if first.slice(*span) != source.slice(place) => {
                    let other = first.slice(*span);
                    let message =
                        format!("the signature `{id}` has the patterns of `{other}`: where one matches, so does the other");
                    report.push(twin(message, (source, place), (first, *span)));
                }
                Some(_) => {}
                None => drop(seen.insert(key, (source.clone(), place))),
            }
        }
    }
}

fn twin(message: String, (source, span): (&Source, Span), (first, at): (&Source, Span)) -> Diagnostic {
    let found = Diagnostic::warning(RULE.id, message).label(source, span, "the same");
    found.label(first, at, "as this").help("remove one of them, and give the other the weight meant for both")
}

/// The code of a rule's function: its file, whose helpers it calls, and its body without the layout.
fn body(one: &LinkedVerdictRule<'_>) -> (String, String) {
    let text = text_of(one.unit, one.function);
    let code = text.find('{').map_or(text, |at| &text[at..]);
    (one.unit.name().to_owned(), code.split_whitespace().collect::<Vec<_>>().join(" "))
}
