//! `vars:`: named settings with defaults. The short form is the default alone, which determines the type; the long form (`{
//! default, type, min, max, values, doc }`) also declares the allowed values and documents the var.

use super::Spanned;
use asterisk_base::model::Kind;
use serde_json::Value;

/// The allowed types of a var, as words of the schema language.
pub(super) const TYPES: &[&str] = &["number", "int", "string", "bool"];

/// A var of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// The value unless overridden.
    pub default: Spanned<Value>,
    /// The declared type with its bounds; without it any value of the default's type is allowed.
    pub declared: Option<Kind>,
    /// The description; empty if there is none besides comments.
    pub doc: String,
}

impl Var {
    /// Whether a value is allowed.
    pub fn accepts(&self, value: &Value) -> bool {
        match &self.declared {
            Some(kind) => kind.accepts(value),
            None => self.default.value.is_null() || word(&self.default.value) == word(value),
        }
    }

    /// A description of the allowed values: `a number from 0 to 1`.
    pub fn allowed(&self) -> String {
        self.declared.as_ref().map_or_else(|| word(&self.default.value).to_owned(), allowed)
    }
}

/// A description of the values of a type.
pub(super) fn allowed(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "true or false".to_owned(),
        Kind::Int { min, max } => bounded("a whole number", *min, *max),
        Kind::Number { min, max } => bounded("a number", *min, *max),
        Kind::Text { one_of } if one_of.is_empty() => "a string".to_owned(),
        Kind::Text { one_of } => {
            let words: Vec<String> = one_of.iter().map(|word| format!("`{word}`")).collect();
            format!("one of {}", words.join(", "))
        }
        other => other.name(),
    }
}

fn bounded<T: std::fmt::Display>(what: &str, min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{what} from {min} to {max}"),
        (Some(min), None) => format!("{what} of {min} or more"),
        (None, Some(max)) => format!("{what} of {max} or less"),
        (None, None) => what.to_owned(),
    }
}

fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
