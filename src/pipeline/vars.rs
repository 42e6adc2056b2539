//! `vars:`: named settings, each with a default. The short form is the default alone, whose type is the var's; the long form
//! (`{ default, type, min, max, values, doc }`) also says which values are allowed and what the var is for.

use super::Spanned;
use crate::model::Kind;
use serde_json::Value;

/// The types that a var may have, by the words of the schema language.
pub(super) const TYPES: &[&str] = &["number", "int", "string", "bool"];

/// A var of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Its value unless it is set.
    pub default: Spanned<Value>,
    /// Its type with its bounds, if the pipeline declares one; otherwise any value of the default's type is allowed.
    pub declared: Option<Kind>,
    /// What it is for; empty if only comments say so.
    pub doc: String,
}

impl Var {
    /// Whether it may be set to a value.
    pub fn accepts(&self, value: &Value) -> bool {
        match &self.declared {
            Some(kind) => kind.accepts(value),
            None => self.default.value.is_null() || word(&self.default.value) == word(value),
        }
    }

    /// The values it accepts, in words: `a number from 0 to 1`.
    pub fn allowed(&self) -> String {
        self.declared.as_ref().map_or_else(|| word(&self.default.value).to_owned(), allowed)
    }
}

/// The values of a type, in words.
pub(super) fn allowed(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "true or false".to_owned(),
        Kind::Int { min, max } => bounded("a whole number", *min, *max),
        Kind::Number { min, max } => bounded("a number", *min, *max),
        Kind::Text { one_of } if one_of.is_empty() => "a text".to_owned(),
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
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
