//! The JSON Schema of pipeline files, for editors: made from the very lists of keys that the reader goes by.

use super::{phases, read, read_edge, read_node, schema, team, thermal, vars};
use serde_json::{Map, Value, json};

/// What a key is called, what it is for, and the schema of its value.
type DescribedPipelineKey = (&'static str, &'static str, Value);

/// The schema of pipeline files (JSON Schema 2020-12).
pub fn json_schema() -> Value {
    let mut schema = described(read::KEYS, &top());
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("An Asterisk pipeline");
    schema["required"] = json!(["pipeline", "nodes", "done"]);
    // Where nodes wait for each other, there is neither.
    let neither = json!({ "anyOf": [{ "required": ["edges"] }, { "required": ["start"] }] });
    schema["anyOf"] = json!([{ "required": ["edges", "start"] }, { "not": neither }]);
    let mut zone_schema = described(read::ZONE_KEYS, &zone());
    zone_schema["description"] = json!("A group of nodes.");
    let mut node_schema = described(read_node::KEYS, &node());
    node_schema["required"] = json!(["name"]);
    let mut edge_schema = described(read_edge::KEYS, &edge());
    edge_schema["required"] = json!(["id", "from"]);
    edge_schema["not"] = json!({ "required": ["rule", "condition"] });
    schema["$defs"] = json!({
        "zone": zone_schema, "node": node_schema, "edge": edge_schema, "fields": fields(), "type": kind(),
        "text": { "type": "string", "pattern": "\\S" },
        "script": {
            "type": "string", "pattern": "^[^#]+\\.rhai#[A-Za-z_][A-Za-z0-9_]*$",
            "examples": ["rules/rca.rhai#recall_hit"],
        },
    });
    schema
}

/// A map with exactly these keys, each as it is described. A key without a description takes anything.
pub fn described(keys: &[&str], entries: &[(&'static str, &'static str, Value)]) -> Value {
    let property = |key: &&str| {
        let found = entries.iter().find(|(name, ..)| name == key);
        let (doc, mut schema) = found.map_or(("", json!({})), |(_, doc, schema)| (*doc, schema.clone()));
        schema["description"] = json!(doc);
        ((*key).to_owned(), schema)
    };
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn text() -> Value {
    json!({ "$ref": "#/$defs/text" })
}

fn script() -> Value {
    json!({ "$ref": "#/$defs/script" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn flag() -> Value {
    json!({ "type": "boolean", "default": false })
}

/// Text for people, which may be left empty.
fn words() -> Value {
    json!({ "type": ["string", "null"] })
}

fn top() -> Vec<DescribedPipelineKey> {
    vec![
        ("pipeline", "Its name; commands take it for the file.", text()),
        ("description", "What it is for.", words()),
        (
            "vars",
            "Settings that its rules see as `vars`: each a default, or `{ default, type, min, max, values, doc }`; `--set NAME=VALUE` and the project file change them.",
            json!({ "type": ["object", "null"], "additionalProperties": var_schema() }),
        ),
        (
            "phases",
            "Lists of nodes, each perhaps with a name: within a wave no case enters a later phase before all have left the earlier ones.",
            json!({ "type": ["array", "null"], "items": { "anyOf": [texts(), phase_schema()] } }),
        ),
        (
            "clusters",
            "Cases that are alike, before a phase: the first of each cluster walks the phase ahead of the others.",
            cluster_schema(),
        ),
        (
            "zones",
            "Groups of nodes, by name.",
            json!({ "type": ["object", "null"], "additionalProperties": { "$ref": "#/$defs/zone" } }),
        ),
        (
            "nodes",
            "The steps: each is answered with an artifact.",
            json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/node" } }),
        ),
        (
            "edges",
            "The ways between them. Those of a node are tried in file order; the first that fires is taken.",
            json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/edge" } }),
        ),
        ("start", "The node where walks begin.", text()),
        ("done", "The name of the end, usually `_done`; no node may have it.", text()),
        (
            "max_steps",
            "The most steps a walk may take; 0 is no cap.",
            json!({ "type": "integer", "minimum": 0, "default": super::DEFAULT_MAX_STEPS }),
        ),
        ("thermal", "How long the answers of a case may take, all together, in milliseconds.", thermal_schema()),
        (
            "on_rule_error",
            "What a rule that throws does: stop the walk, or count as not fired.",
            json!({ "enum": ["stop", "skip"], "default": "stop" }),
        ),
        (
            "team",
            "Who may walk: personas and walkers of your own, and the script that chooses one of them for every step.",
            team_schema(),
        ),
        (
            "counters",
            "Counters that its rules read and that are counted by the walk around it, where it is walked as a node of another pipeline.",
            json!({ "type": ["array", "null"], "items": text() }),
        ),
        ("report", "The function that sums a case up for the report: fn summary(params, vars).", script()),
    ]
}

/// A var: its default, or, of a map with a `default`, the long form.
fn var_schema() -> Value {
    let mut long = described(vars::KEYS, &var());
    long["required"] = json!(["default"]);
    json!({ "if": { "type": "object", "required": ["default"] }, "then": long })
}

fn var() -> Vec<DescribedPipelineKey> {
    vec![
        ("default", "Its value unless it is set.", json!({})),
        ("type", "Its type; that of its default without.", json!({ "enum": vars::TYPES })),
        ("min", "The least number it may be set to.", json!({ "type": "number" })),
        ("max", "The greatest number it may be set to.", json!({ "type": "number" })),
        ("values", "The texts it may be set to.", json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })),
        ("doc", "What it is for.", text()),
    ]
}

fn thermal_schema() -> Value {
    let millis = || json!({ "type": "integer", "minimum": 0 });
    let entries = [
        ("warning_ms", "From how much on it is told, once; 0 for never.", millis()),
        ("ceiling_ms", "From how much on the case takes no further step, and fails with `limit`.", millis()),
    ];
    let mut schema = described(thermal::KEYS, &entries);
    schema["type"] = json!(["object", "null"]);
    schema
}

fn cluster_schema() -> Value {
    let mut schema = described(phases::CLUSTER_KEYS, &cluster());
    schema["type"] = json!(["object", "null"]);
    schema["required"] = json!(["before", "by"]);
    schema
}

fn phase_schema() -> Value {
    let mut schema = described(phases::PHASE_KEYS, &phase());
    schema["type"] = json!("object");
    schema["required"] = json!(["nodes"]);
    schema
}

fn team_schema() -> Value {
    let mut schema = described(team::KEYS, &team());
    schema["type"] = json!(["object", "null"]);
    schema["required"] = json!(["walkers", "scheduler"]);
    schema
}

fn team() -> Vec<DescribedPipelineKey> {
    let own = json!({ "type": "object", "required": ["name"] });
    vec![
        (
            "walkers",
            "Names of personas (`asterisk show personas`), or maps with the keys of a persona.",
            json!({ "type": "array", "minItems": 1, "items": { "anyOf": [text(), own] } }),
        ),
        (
            "scheduler",
            "The script that chooses: fn select(ctx).",
            json!({ "type": "string", "examples": ["schedulers/affinity.rhai"] }),
        ),
        (
            "max_steps",
            "The most steps a walk may take; 0 is no cap.",
            json!({ "type": "integer", "minimum": 0, "default": super::TEAM_MAX_STEPS }),
        ),
    ]
}

fn phase() -> Vec<DescribedPipelineKey> {
    vec![
        ("name", "What batch manifests call it; that of its last node without. Several phases may share a name.", text()),
        ("nodes", "Its nodes, by name.", texts()),
    ]
}

fn cluster() -> Vec<DescribedPipelineKey> {
    vec![
        ("before", "A node of the phase before which clusters are formed.", text()),
        ("by", "The function that gives a case its key; cases of one key are alike.", script()),
        ("most", "The most cases of a cluster.", json!({ "type": "integer", "minimum": 2, "maximum": 1000, "default": 3 })),
    ]
}

fn zone() -> Vec<DescribedPipelineKey> {
    vec![
        ("nodes", "Its nodes, by name.", json!({ "type": ["array", "null"], "items": text() })),
        ("element", "Its element (`asterisk show elements`).", text()),
        (
            "stickiness",
            "How strongly a walker is kept in the zone, 0 (free) to 3 (exclusive).",
            json!({ "type": "integer", "minimum": 0, "maximum": 3, "default": 0 }),
        ),
    ]
}

fn node() -> Vec<DescribedPipelineKey> {
    vec![
        ("name", "Its name, unique in the pipeline.", text()),
        ("code", "A short code for people, paths and signals.", text()),
        ("element", "Its element (`asterisk show elements`).", text()),
        ("family", "What names its responder and its prompt when they are not given; its name by default.", text()),
        ("prompt", "The template of its prompt, below the templates.", text()),
        ("artifact", "The file name of its artifact.", text()),
        ("confidence", "The field that holds the artifact's confidence.", text()),
        ("schema", "The form of its artifact: fields and their types; `?` after a name makes a field optional.", fields_ref()),
        (
            "needs",
            "The queries whose answers it wants, run before the step.",
            json!({ "type": ["array", "null"], "items": text(), "uniqueItems": true }),
        ),
        (
            "masks",
            "Scripts around the step, the outermost first: fn pre(ctx), fn post(ctx, artifact).",
            json!({ "type": ["array", "null"], "items": text(), "uniqueItems": true, "examples": [["masks/recall.rhai"]] }),
        ),
        ("effect", "The function that turns its artifact into writes: fn name(artifact, params).", script()),
        ("script", "The function that answers it instead of its family's responder: fn name(params, vars).", script()),
        (
            "via",
            "Who answers it, in the order to be tried: `script`, `manual`, or a name of `agents:` in asterisk.yaml.",
            json!({ "anyOf": [text(), { "type": "array", "items": text(), "uniqueItems": true }, { "type": "null" }],
                    "examples": ["manual", ["claude", "script"]] }),
        ),
        (
            "tool",
            "The tool that is called for its artifact, of a server that `mcp_servers:` in asterisk.yaml sets up.",
            json!({ "type": "string", "pattern": "^[^/]+/.+$", "examples": ["notes/find"] }),
        ),
        (
            "arguments",
            "The arguments of `tool`, a map: an expression over the groups of `params` (`#{ text: failure.name }`), or fn name(params, vars).",
            text(),
        ),
        ("pipeline", "The pipeline that is walked as this node, by file stem or name: its last artifact is the node's.", text()),
        (
            "foreach",
            "The items it is taken for, each in a branch of its own: an expression over the groups of `params` (`prior.a.list`), or fn name(params, vars).",
            text(),
        ),
        ("do", "The pipeline that is walked for each item of `foreach`; without it the node is answered for each.", text()),
        (
            "merge",
            "What makes one artifact of those of the branches: a word, or fn name(branches, vars).",
            json!({ "anyOf": [{ "enum": ["append", "first", "latest", "best"] }, script()], "default": "append" }),
        ),
        (
            "on_error",
            "What a branch that fails does: fail the case, or be left out.",
            json!({ "enum": ["cancel", "collect"], "default": "cancel" }),
        ),
        (
            "concurrency",
            "How many branches are taken at once.",
            json!({ "type": "integer", "minimum": 1, "maximum": 256, "default": super::CONCURRENCY }),
        ),
        (
            "after",
            "The nodes it waits for, in a pipeline without edges: those that wait for none any more are taken beside each other.",
            json!({ "type": ["array", "null"], "items": text(), "uniqueItems": true }),
        ),
        ("fallback", "Where a walk goes when none of its edges fires; without it, that is an error.", text()),
    ]
}

fn edge() -> Vec<DescribedPipelineKey> {
    vec![
        ("id", "Its id, unique in the pipeline.", text()),
        ("name", "What people call it.", words()),
        ("from", "The node it comes from; `\"*\"` makes it a guard, tried after every node's own edges.", text()),
        ("to", "Where it goes: a node, or the end.", text()),
        ("targets", "What its rule may choose from besides `to`.", texts()),
        ("shortcut", "Whether it skips steps of the usual way.", flag()),
        ("loop", "Whether it goes back: taking it adds one to its counter.", flag()),
        (
            "counter",
            "The counter that taking it adds one to, which rules read as `state.loops.NAME`; its id by default.",
            json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
        ),
        ("advisory", "Whether it only adds context and never routes.", flag()),
        (
            "parallel",
            "Whether the walk goes by it and by all others of its node that are so and fire, until their nodes lead to one.",
            flag(),
        ),
        ("rule", "The function that decides whether it fires: fn name(artifact, state, vars).", script()),
        (
            "condition",
            "An expression that decides instead: fields of the artifact by name, `artifact`, `state`, `vars`.",
            json!({ "type": ["string", "boolean"] }),
        ),
        ("context", "What taking it adds to the walk's context.", json!({ "type": ["object", "null"] })),
    ]
}

fn fields_ref() -> Value {
    json!({ "$ref": "#/$defs/fields" })
}

fn fields() -> Value {
    json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/type" } })
}

/// A type of the schema language: a word, a list of one type, a map of fields, or the long form.
fn kind() -> Value {
    let inner = json!({ "$ref": "#/$defs/type" });
    json!({
        "description": "A type: a word, a list of one type, a map of fields, or `{ type: ..., ... }` with that type's options.",
        "oneOf": [
            { "enum": schema::WORDS },
            { "type": "array", "items": inner, "minItems": 1, "maxItems": 1 },
            {
                "type": "object",
                "if": { "anyOf": [{ "required": ["type"] }, { "required": ["enum"] }] },
                "then": {
                    "properties": {
                        "type": { "enum": schema::WORDS },
                        "enum": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                        "min": { "type": "number" },
                        "max": { "type": "number" },
                        "items": inner,
                        "fields": fields_ref(),
                        "values": inner,
                    },
                    "additionalProperties": false,
                },
                "else": fields_ref(),
            },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_of_the_reader_is_described_and_no_other() {
        for (keys, entries) in [
            (read::KEYS, top()),
            (read::ZONE_KEYS, zone()),
            (read_node::KEYS, node()),
            (read_edge::KEYS, edge()),
            (phases::PHASE_KEYS, phase()),
            (phases::CLUSTER_KEYS, cluster()),
            (team::KEYS, self::team()),
            (vars::KEYS, var()),
        ] {
            let known: BTreeSet<&str> = keys.iter().copied().collect();
            let described: BTreeSet<&str> = entries.iter().map(|(key, ..)| *key).collect();
            assert_eq!(known, described);
            assert!(entries.iter().all(|(_, doc, _)| doc.ends_with('.') || doc.ends_with(')')), "{entries:?}");
        }
    }
}
