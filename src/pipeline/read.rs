//! The tree of a pipeline file -> what it says: the keys at the top, vars and zones.

use super::Spanned;
use super::graph::OnRuleError;
use super::raw::{RawNode, RawPipeline, RawZone};
use super::vars::Var;
use super::yaml::{Yaml, YamlEntry, YamlFields, YamlReader};
use super::{phases, read_edge, read_node, team, thermal};
use std::collections::BTreeMap;

pub(super) const KEYS: &[&str] = &[
    "pipeline",
    "description",
    "vars",
    "phases",
    "clusters",
    "zones",
    "nodes",
    "edges",
    "start",
    "done",
    "max_steps",
    "thermal",
    "on_rule_error",
    "team",
    "report",
    "counters",
];
pub(super) const ZONE_KEYS: &[&str] = &["nodes", "element", "stickiness"];

/// Keys of the language whose machinery is still to come. They are refused by that name, wherever they stand.
pub(super) const LATER: &[&str] = &["gate", "retry", "timeout", "cache", "category", "stages"];

/// Reads the whole file.
pub(super) fn pipeline(reader: &mut YamlReader<'_>, yaml: &Yaml) -> RawPipeline {
    if yaml.is_null() {
        let error = reader.error("missing-name", "the file is empty", yaml.span, "");
        reader.push(error.help("a pipeline has the keys `pipeline`, `nodes`, `edges`, `start` and `done`"));
        return RawPipeline::default();
    }
    let Some(fields) = reader.map(yaml, "a pipeline file") else { return RawPipeline::default() };
    reader.known_keys(fields, "a pipeline", KEYS, LATER);
    // The other form of a pipeline has been refused as a whole; what it lacks of this form is no news.
    let whole = fields.entry("stages").is_none();
    // Where nodes wait for each other, that says where a walk begins and how it goes on.
    let waves = waits(fields);
    let mut required = |key: &str, code: &str, message: &str| match value(fields, key) {
        None if whole && !(waves && key == "start") => missing(reader, fields, key, code, message),
        None => None,
        Some(yaml) => required_text(reader, yaml, &format!("`{key}`"), code, message),
    };
    RawPipeline {
        name: required("pipeline", "missing-name", "the pipeline has no name"),
        start: required("start", "missing-start", "the pipeline has no start"),
        done: required("done", "missing-done", "the pipeline has no name for its end"),
        description: label(reader, fields, "description", "`description`"),
        vars: vars(reader, fields),
        zones: zones(reader, fields),
        phases_span: present(fields, "phases").map(|yaml| yaml.span),
        phases: phases::read_phases(reader, fields),
        clusters: phases::read_clusters(reader, fields),
        nodes: items(reader, fields, "nodes", "no-nodes", whole)
            .map(|items| items.iter().map(|item| read_node::node(reader, item).unwrap_or_default()).collect::<Vec<RawNode>>()),
        edges: items(reader, fields, "edges", "no-edges", whole && !waves)
            .map(|items| items.iter().filter_map(|item| read_edge::edge(reader, item)).collect())
            .unwrap_or_default(),
        report: value(fields, "report").and_then(|yaml| reader.text(yaml, "`report`")),
        team: team::team(reader, fields),
        max_steps: team::max_steps(reader, fields),
        counters: present(fields, "counters").and_then(|yaml| reader.texts(yaml, "`counters`")).unwrap_or_default(),
        thermal: thermal::read(reader, fields),
        on_rule_error: value(fields, "on_rule_error")
            .and_then(|yaml| {
                let words = [("stop", OnRuleError::Stop), ("skip", OnRuleError::Skip)];
                reader.one_of(yaml, "`on_rule_error`", &words)
            })
            .unwrap_or_default(),
    }
}

/// Whether a node waits for others.
fn waits(fields: YamlFields<'_>) -> bool {
    let nodes = present(fields, "nodes").and_then(Yaml::as_list).unwrap_or_default();
    nodes.iter().any(|node| node.get("after").is_some_and(|after| !after.is_null()))
}

fn vars(reader: &mut YamlReader<'_>, fields: YamlFields<'_>) -> BTreeMap<String, Var> {
    let vars = present(fields, "vars").and_then(|yaml| reader.map(yaml, "`vars`"));
    vars.map(|fields| super::vars::read(reader, fields)).unwrap_or_default()
}

fn zones(reader: &mut YamlReader<'_>, fields: YamlFields<'_>) -> Vec<RawZone> {
    let Some(zones) = present(fields, "zones").and_then(|yaml| reader.map(yaml, "`zones`")) else { return Vec::new() };
    zones.entries().iter().filter_map(|YamlEntry { key, value }| zone(reader, key, value)).collect()
}

fn zone(reader: &mut YamlReader<'_>, name: &Spanned<String>, yaml: &Yaml) -> Option<RawZone> {
    let what = format!("zone `{name}`");
    let fields = reader.map(yaml, &what)?;
    reader.known_keys(fields, &what, ZONE_KEYS, &[]);
    let nodes = present(fields, "nodes").and_then(|yaml| reader.texts(yaml, &format!("`nodes` of {what}")));
    let element = value(fields, "element").and_then(|yaml| reader.text(yaml, &format!("`element` of {what}")));
    let stickiness = value(fields, "stickiness")
        .and_then(|yaml| reader.int(yaml, &format!("`stickiness` of {what}"), &(0..=3)))
        .and_then(|value| u8::try_from(value).ok());
    Some(RawZone { name: name.clone(), nodes: nodes.unwrap_or_default(), element, stickiness: stickiness.unwrap_or(0) })
}

/// The list under a key that has to have items.
fn items<'y>(reader: &mut YamlReader<'_>, fields: YamlFields<'y>, key: &str, code: &str, required: bool) -> Option<&'y [Yaml]> {
    let message = format!("the pipeline has no {key}");
    let items = match present(fields, key) {
        None if required => return missing(reader, fields, key, code, &message),
        None => return None,
        Some(yaml) => reader.list(yaml, &format!("`{key}`"))?,
    };
    if items.is_empty() && required {
        let span = value(fields, key).map_or(fields.yaml.span, |yaml| yaml.span);
        let error = reader.error(code, message, span, "");
        reader.push(error);
    }
    Some(items)
}

/// The value of a key, null or not.
pub(super) fn value<'y>(fields: YamlFields<'y>, key: &str) -> Option<&'y Yaml> {
    fields.entry(key).map(|entry| &entry.value)
}

/// The value of a key under which nothing is the same as no key: a list or map all of whose items are commented out.
pub(super) fn present<'y>(fields: YamlFields<'y>, key: &str) -> Option<&'y Yaml> {
    value(fields, key).filter(|yaml| !yaml.is_null())
}

/// A text for people only: no key, nothing and a blank text are the same.
pub(super) fn label(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, what: &str) -> String {
    match present(fields, key) {
        Some(yaml) if yaml.as_text().is_some_and(|text| text.trim().is_empty()) => String::new(),
        Some(yaml) => reader.text(yaml, what).map_or(String::new(), |text| text.value),
        None => String::new(),
    }
}

/// A text that has to be there and not blank.
pub(super) fn required_text(
    reader: &mut YamlReader<'_>,
    yaml: &Yaml,
    what: &str,
    code: &str,
    message: &str,
) -> Option<Spanned<String>> {
    if yaml.is_null() || yaml.as_text().is_some_and(|text| text.trim().is_empty()) {
        let error = reader.error(code, message, yaml.span, "nothing here");
        reader.push(error);
        return None;
    }
    reader.text(yaml, what)
}

/// Says that a key is missing, and finds nothing.
pub(super) fn missing<T>(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, key: &str, code: &str, message: &str) -> Option<T> {
    let error = reader.error(code, message, fields.yaml.head(reader.source()), format!("no `{key}` here"));
    reader.push(error.help(format!("add the key `{key}`")));
    None
}
