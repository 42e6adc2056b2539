//! The JSON Schemas (2020-12) of pipeline files and of policies, generated from the reader's forms.

use super::keys::{PIPELINE, POLICY, STAGES, schema_definitions};
use asterisk_form::{extensible, of_form};
use serde_json::{Value, json};

/// The schema of pipeline files: of graphs, and of stages.
pub fn json_schema() -> Value {
    let mut stages = of_form(&STAGES);
    stages["required"] = json!(["stages"]);
    let whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An Asterisk pipeline",
        "if": { "type": "object", "required": ["stages"] },
        "then": stages,
        "else": graph(),
        "$defs": schema_definitions(),
    });
    // A file that extends another one may change either kind.
    let mut either = of_form(&STAGES);
    let graph = of_form(&PIPELINE);
    for (key, schema) in graph["properties"].as_object().into_iter().flatten() {
        either["properties"][key] = schema.clone();
    }
    extensible(whole, &either)
}

/// The schema of a file that `policy:` of a pipeline names.
pub fn policy_json_schema() -> Value {
    extensible(asterisk_form::json_schema("An Asterisk policy", &POLICY), &of_form(&POLICY))
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
