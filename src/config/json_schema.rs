//! The JSON Schema of the project file, for editors: made from the very lists of keys that the reader goes by.

use super::project_file::{KNOWN, REPOSITORY, WORKSPACE};
use crate::lint::{self, Value as OptValue};
use crate::pipeline::described;
use serde_json::{Map, Value, json};

type Described = (&'static str, &'static str, Value);

/// The schema of `asterisk.yaml` and of the user's own file (JSON Schema 2020-12).
pub fn json_schema() -> Value {
    let mut schema = described(KNOWN, &top());
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("An Asterisk project file");
    // A file in which everything is commented out is one too.
    schema["type"] = json!(["object", "null"]);
    schema["$defs"] = json!({ "text": { "type": "string", "pattern": "\\S" } });
    schema
}

fn text() -> Value {
    json!({ "$ref": "#/$defs/text" })
}

fn top() -> Vec<Described> {
    let mut workspace = described(WORKSPACE, &workspace());
    workspace["type"] = json!(["object", "null"]);
    vec![
        ("scripts", "A directory laid over the bundled scripts, file by file; relative to this file.", text()),
        ("pipelines", "A directory laid over the bundled pipelines.", text()),
        ("templates", "A directory laid over the bundled prompt templates.", text()),
        ("store", "Where everything about runs is kept.", text()),
        ("domain", "The vocabulary to go by.", text()),
        ("vars", "Vars for every pipeline that has them; `--set` goes before.", json!({ "type": ["object", "null"] })),
        ("workspace", "The repositories that failures may come from.", workspace),
        (
            "observers",
            "Who looks on at every run, as `--observe` has it: KIND or KIND=FILE, files relative to this file.",
            json!({ "type": ["array", "null"], "items": text() }),
        ),
        ("lint", "Levels and options of the linter's rules (`asterisk lint --list`).", lint()),
    ]
}

fn lint() -> Value {
    let levels: Vec<&str> = lint::Level::NAMES.iter().map(|(name, _)| *name).collect();
    let (mut ids, mut options) = (Map::new(), Map::new());
    for rule in lint::rules() {
        ids.insert(rule.id.to_owned(), json!({ "description": rule.summary, "enum": levels }));
        ids.entry(rule.category()).or_insert_with(|| json!({ "description": "All rules of this category.", "enum": levels }));
        if rule.options.is_empty() {
            continue;
        }
        let option = |option: &lint::Opt| {
            let (kind, default) = match option.default {
                OptValue::Int(number) => (json!({ "type": "integer" }), json!(number)),
                OptValue::Texts(texts) => (json!({ "type": "array", "items": { "type": "string" } }), json!(texts)),
            };
            let mut schema = kind;
            schema["description"] = json!(option.doc);
            schema["default"] = default;
            (option.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = rule.options.iter().map(option).collect();
        options.insert(rule.id.to_owned(), json!({ "type": "object", "properties": properties, "additionalProperties": false }));
    }
    let map = |properties: Map<String, Value>| json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false });
    let mut schema = described(
        lint::KEYS,
        &[
            ("levels", "How bad findings are taken to be, by rule or category.", map(ids)),
            ("options", "What rules go by.", map(options)),
        ],
    );
    schema["type"] = json!(["object", "null"]);
    schema
}

fn workspace() -> Vec<Described> {
    let mut one = described(REPOSITORY, &repository());
    one["required"] = json!(["name"]);
    vec![("repositories", "The repositories.", json!({ "type": "array", "items": one }))]
}

fn repository() -> Vec<Described> {
    vec![
        ("name", "Its name.", text()),
        ("path", "Its checkout, relative to this file.", text()),
        ("purpose", "What it is for, in the words that failures use: the choice of a repository goes by them.", text()),
        ("branch", "The branch to look at.", text()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_reader_is_described() {
        for (keys, entries) in [(KNOWN, top()), (WORKSPACE, workspace()), (REPOSITORY, repository())] {
            let missing: Vec<&&str> = keys.iter().filter(|key| !entries.iter().any(|(name, ..)| name == *key)).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    }
}
