//! An edge as written.

use super::Spanned;
use super::graph::EdgeCondition;
use super::raw::{ANY, RawEdge, Ref};
use super::read::{LATER, label, missing, present, required_text, value};
use super::yaml::{Yaml, YamlFields, YamlReader};
use crate::diag::Span;
use serde_json::{Map, Value};

pub(super) const KEYS: &[&str] = &[
    "id",
    "name",
    "from",
    "to",
    "targets",
    "shortcut",
    "loop",
    "counter",
    "advisory",
    "parallel",
    "rule",
    "condition",
    "context",
];

/// Reads an edge; `None` if it is no map.
pub(super) fn edge(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Option<RawEdge> {
    let fields = reader.map(yaml, "an edge")?;
    let id = match value(fields, "id") {
        None => missing(reader, fields, "id", "edge-id-missing", "an edge has no id"),
        Some(yaml) => required_text(reader, yaml, "`id` of an edge", "edge-id-missing", "an edge has no id"),
    };
    let what = id.as_ref().map_or("an edge".to_owned(), |id| format!("edge `{id}`"));
    reader.known_keys(fields, &what, KEYS, LATER);
    let of = |key: &str| format!("`{key}` of {what}");
    let (when, when_span) = when(reader, fields, &what);
    let mut flag = |key: &str| value(fields, key).and_then(|yaml| reader.bool(yaml, &of(key))).unwrap_or(false);
    let (shortcut, looped, advisory, parallel) = (flag("shortcut"), flag("loop"), flag("advisory"), flag("parallel"));
    let edge = RawEdge {
        whole: yaml.span,
        head: yaml.head(reader.source()),
        name: label(reader, fields, "name", &of("name")),
        from: reference(reader, fields, "from", &what),
        to: reference(reader, fields, "to", &what),
        targets: value(fields, "targets").and_then(|yaml| reader.texts(yaml, &of("targets"))).unwrap_or_default(),
        counter: value(fields, "counter").and_then(|yaml| reader.text(yaml, &of("counter"))),
        context: context(reader, fields, &of("context")),
        id,
        shortcut,
        looped,
        advisory,
        parallel,
        when,
        when_span,
    };
    consistent(reader, fields, &edge, &what);
    Some(edge)
}

fn reference(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, what: &str) -> Ref {
    match present(fields, key) {
        None => Ref::Missing,
        Some(yaml) if yaml.as_text().is_some_and(|text| text.trim().is_empty()) => Ref::Missing,
        Some(yaml) => reader.text(yaml, &format!("`{key}` of {what}")).map_or(Ref::Bad, Ref::Name),
    }
}

fn when(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, what: &str) -> (EdgeCondition, Option<Span>) {
    let rule = value(fields, "rule");
    let condition = value(fields, "condition");
    if let (Some(rule), Some(condition)) = (rule, condition) {
        let message = format!("{what} has both a rule and a condition");
        let error = reader
            .error("rule-and-condition", message, condition.span, "the condition")
            .label(reader.source(), rule.span, "the rule")
            .help("leave one of them; a rule can hold the condition");
        reader.push(error);
    }
    let rule = rule.and_then(|yaml| reader.text(yaml, &format!("`rule` of {what}")));
    let condition = condition.and_then(|yaml| reader.expression(yaml, &format!("`condition` of {what}")));
    match (rule, condition) {
        (Some(rule), _) => {
            let span = rule.span;
            (EdgeCondition::Rule(rule), Some(span))
        }
        (None, Some(condition)) => {
            let span = condition.whole();
            (EdgeCondition::Condition(condition), Some(span))
        }
        (None, None) => (EdgeCondition::Always, None),
    }
}

fn context(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, what: &str) -> Map<String, Value> {
    let Some(map) = present(fields, "context").and_then(|yaml| reader.map(yaml, what)) else { return Map::new() };
    map.entries().iter().map(|entry| (entry.key.value.clone(), entry.value.to_json())).collect()
}

/// What can be said of an edge without knowing the nodes: that no key of it is without effect.
fn consistent(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, edge: &RawEdge, what: &str) {
    let key_of = |key: &str| fields.entry(key).map(|entry| entry.key.span).unwrap_or_default();
    if let Some(counter) = &edge.counter {
        if !is_identifier(counter) {
            let message = format!("the counter `{counter}` of {what} is not a name");
            let error = reader.error("bad-counter", message, counter.span, "");
            reader.push(error.help("rules read it as `state.loops.NAME`: letters, digits and `_`, no digit first"));
        }
        if !edge.looped {
            let message = format!("{what} has a counter but is no loop, so it never counts");
            let error = reader.error("bad-counter", message, key_of("counter"), "");
            reader.push(error.help("add `loop: true`, or leave the counter out"));
        }
    }
    if let (true, Ref::Name(from)) = (edge.parallel, &edge.from)
        && from.value == ANY
    {
        let error = reader.error("parallel", format!("{what} is a guard: it goes alone"), key_of("parallel"), "");
        reader.push(error.help("leave `parallel` out"));
    }
    if !edge.advisory {
        return;
    }
    let idle =
        [("parallel", edge.parallel), ("shortcut", edge.shortcut), ("loop", edge.looped), ("targets", !edge.targets.is_empty())];
    for (key, _) in idle.iter().filter(|(_, given)| *given) {
        let message = format!("{what} is an advisory: it never routes, so `{key}` does nothing");
        let error = reader.error("advisory", message, key_of(key), "");
        reader.push(error.help(format!("leave `{key}` out, or leave `advisory` out")));
    }
    if let Ref::Name(Spanned { value, span }) = &edge.from
        && value == ANY
    {
        let message = format!("{what} is both a guard and an advisory");
        let error = reader.error("advisory", message, *span, "a guard");
        reader.push(error.help("give an advisory the node it advises at"));
    }
}

fn is_identifier(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
