//! The JSON Schema (2020-12) and the reference of the project file, from the forms that the reader uses.

use super::keys::PROJECT;
use serde_json::{Value, json};

/// The schema of `asterisk.yaml` and of the user's own file.
pub fn json_schema() -> Value {
    let mut schema = asterisk_form::json_schema("An Asterisk project file", &PROJECT);
    // A file in which everything is commented out is one too.
    schema["type"] = json!(["object", "null"]);
    schema
}

/// The keys of `asterisk.yaml` and of the user's own file, in Markdown.
pub fn reference() -> String {
    asterisk_form::reference("The file", &PROJECT)
}
