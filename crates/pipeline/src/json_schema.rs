//! The JSON Schema (2020-12) of pipeline files, generated from the reader's forms.

use super::keys::{PIPELINE, STAGES, schema_definitions};
use asterisk_form::of_form;
use serde_json::{Value, json};

/// The schema of pipeline files: of graphs, and of stages.
pub fn json_schema() -> Value {
    let mut stages = of_form(&STAGES);
    stages["required"] = json!(["stages"]);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An Asterisk pipeline",
        "if": { "type": "object", "required": ["stages"] },
        "then": stages,
        "else": graph(),
        "$defs": schema_definitions(),
    })
}

/// The schema of a graph.
fn graph() -> Value {
    let mut schema = of_form(&PIPELINE);
    schema["required"] = json!(["pipeline", "nodes", "done"]);
    // Pipelines with `after:` have neither edges nor a start.
    let neither = json!({ "anyOf": [{ "required": ["edges"] }, { "required": ["start"] }] });
    schema["anyOf"] = json!([{ "required": ["edges", "start"] }, { "not": neither }]);
    let edge = &mut schema["properties"]["edges"]["items"];
    edge["required"] = json!(["id", "from"]);
    edge["not"] = json!({ "required": ["rule", "condition"] });
    schema["properties"]["team"]["required"] = json!(["walkers", "scheduler"]);
    schema
}
