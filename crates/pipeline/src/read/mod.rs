//! Converts the tree of a pipeline file to a raw pipeline. The form has been checked; what remains are checks across keys.

mod edge;
mod foreach;
mod node;
mod phases;
pub(super) mod policy;
mod roots;
mod schema;
mod stages;
mod team;
mod tool;
mod vars;
mod verdict;

use super::computed::ComputedValue;
use super::graph::OnRuleError;
use super::keys::{PIPELINE, STAGES, THERMAL, VERDICT, ZONE};
use super::raw::{RawPipeline, RawZone};
use super::thermal::Thermal;
use asterisk_diag::Source;
use asterisk_form::yaml::{Yaml, YamlEntry, YamlReader};
use asterisk_form::{FormFields, FormReader};

/// Reads the whole file. Returns the reader with its errors.
pub(super) fn pipeline<'a>(source: &'a Source, yaml: &Yaml) -> (YamlReader<'a>, RawPipeline) {
    let mut check: FormReader<'a> = FormReader::new(source, "pipeline");
    if yaml.is_null() {
        let error = check.reader.error("missing-name", "the file is empty", yaml.span, "");
        check.reader.push(error.help("a pipeline has the keys `pipeline`, `nodes`, `edges`, `start` and `done`"));
        return (check.reader, RawPipeline::default());
    }
    let Some(fields) = FormFields::of(yaml, &PIPELINE) else {
        check.reader.map(yaml, "a pipeline file");
        return (check.reader, RawPipeline::default());
    };
    // Nodes make it a graph, whatever else is there.
    if yaml.get("stages").is_some() && yaml.get("nodes").is_none() {
        check.file(yaml, &STAGES, None);
        let mut reader = check.reader;
        let raw = FormFields::of(yaml, &STAGES).map(|fields| stages::stages(&mut reader, fields)).unwrap_or_default();
        return (reader, raw);
    }
    check.file(yaml, &PIPELINE, None);
    let mut reader = check.reader;
    let raw = raw(&mut reader, fields);
    (reader, raw)
}

/// The values of `memory:`.
fn memory(fields: FormFields<'_>) -> serde_json::Map<String, serde_json::Value> {
    fields.entries("memory").iter().map(|entry| (entry.key.value.clone(), entry.value.to_json())).collect()
}

fn raw(reader: &mut YamlReader<'_>, fields: FormFields<'_>) -> RawPipeline {
    // With `after:`, the dependencies determine start and order.
    let waves = waits(fields);
    for (key, code, message) in [
        ("pipeline", "missing-name", "the pipeline needs a name"),
        ("start", "missing-start", "the pipeline needs a start"),
        ("done", "missing-done", "the pipeline does not name its end (`done`)"),
    ] {
        if !(waves && key == "start") && fields.value(key).is_none() {
            missing(reader, fields, key, code, message);
        }
    }
    let vars = fields
        .present("vars")
        .and_then(|yaml| reader.map(yaml, "`vars`"))
        .map(|entries| vars::vars(reader, entries.entries()))
        .unwrap_or_default();
    RawPipeline {
        name: fields.text("pipeline"),
        verdict: fields.map("verdict", &VERDICT).and_then(|section| verdict::verdict(reader, section, &vars)),
        roots: roots::roots(reader, fields),
        start: fields.text("start"),
        done: fields.text("done"),
        description: fields.label("description"),
        vars,
        zones: fields.entries("zones").iter().filter_map(zone).collect(),
        phases_span: fields.present("phases").map(|yaml| yaml.span),
        phases: phases::phases(fields),
        clusters: phases::clusters(fields),
        nodes: items(reader, fields, "nodes", "no-nodes", true)
            .map(|items| items.iter().map(|item| node::node(reader, item).unwrap_or_default()).collect()),
        edges: items(reader, fields, "edges", "no-edges", !waves)
            .map(|items| items.iter().filter_map(|item| edge::edge(reader, item)).collect())
            .unwrap_or_default(),
        report: fields.text("report"),
        result: fields.text("result"),
        team: fields.present("team").and_then(|yaml| team::team(reader, yaml)),
        max_steps: team::max_steps(reader, fields),
        counters: fields.texts("counters"),
        thermal: fields.map("thermal", &THERMAL).map(thermal),
        deadline: fields.text("deadline"),
        on_rule_error: match fields.text("on_rule_error") {
            Some(word) if word.value == "skip" => OnRuleError::Skip,
            _ => OnRuleError::Stop,
        },
        policy: policy::of_pipeline(reader, fields),
        memory: memory(fields),
        waves,
        stages: false,
    }
}

/// Whether a node has `after:`.
fn waits(fields: FormFields<'_>) -> bool {
    let nodes = fields.list("nodes").unwrap_or_default();
    nodes.iter().any(|node| node.get("after").is_some_and(|after| !after.is_null()))
}

fn zone(YamlEntry { key, value }: &YamlEntry) -> Option<RawZone> {
    let fields = FormFields::of(value, &ZONE)?;
    let stickiness = fields.whole("stickiness").and_then(|value| u8::try_from(value).ok()).unwrap_or(0);
    Some(RawZone { name: key.clone(), nodes: fields.texts("nodes"), element: fields.text("element"), stickiness })
}

fn thermal(fields: FormFields<'_>) -> Thermal {
    let millis = |key: &str| fields.whole(key).and_then(|millis| u64::try_from(millis).ok());
    Thermal { warning_ms: millis("warning_ms").unwrap_or(0), ceiling_ms: millis("ceiling_ms") }
}

/// The list of a key that must have items.
fn items<'y>(reader: &mut YamlReader<'_>, fields: FormFields<'y>, key: &str, code: &str, required: bool) -> Option<&'y [Yaml]> {
    let message = format!("the pipeline needs {key}");
    let Some(yaml) = fields.present(key) else {
        if required {
            missing(reader, fields, key, code, &message);
        }
        return None;
    };
    let items = yaml.as_list()?;
    if items.is_empty() && required {
        let error = reader.error(code, message, yaml.span, "");
        reader.push(error);
    }
    Some(items)
}

/// Reports a missing key.
fn missing(reader: &mut YamlReader<'_>, fields: FormFields<'_>, key: &str, code: &str, message: &str) {
    let error = reader.error(code, message, fields.yaml.head(reader.source()), format!("no `{key}` here"));
    reader.push(error.help(format!("add the key `{key}`")));
}

/// A computed value: a function if it is a reference to one, otherwise an expression.
fn computed(fields: FormFields<'_>, key: &str, source: &Source) -> Option<ComputedValue> {
    Some(match fields.text(key) {
        Some(text) if text.contains(".rhai#") => ComputedValue::Function(text),
        _ => ComputedValue::Expression(fields.expression(key, source)?),
    })
}
