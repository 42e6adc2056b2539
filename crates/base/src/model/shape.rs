//! The declared shape of an artifact: the basis of validation, field access in scripts, lints and completion.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Any value.
    Any,
    /// A boolean.
    Bool,
    /// An integer, within inclusive bounds if given.
    Int { min: Option<i64>, max: Option<i64> },
    /// A number, within inclusive bounds if given; scripts always see a float.
    Number { min: Option<f64>, max: Option<f64> },
    /// A string; one of the given ones if the list is not empty.
    Text { one_of: Vec<String> },
    /// A list of values of one type.
    List(Box<Self>),
    /// An object with declared fields.
    Object(Arc<Shape>),
    /// An object with arbitrary keys and values of one type.
    Map(Box<Self>),
}

/// A field of a [`Shape`].
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    /// The type of its value.
    pub kind: Kind,
    /// Whether an accepted artifact must have the field.
    pub required: bool,
}

/// The fields of an object. Undeclared fields are refused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// The name in messages (`recall artifact`).
    pub name: String,
    /// The fields, in declaration order.
    pub fields: Vec<Field>,
    /// Whether a field that is not required may be absent, so that reading it fails. Otherwise it reads as the zero of its type, as in
    /// artifacts.
    pub sparse: bool,
}

/// An error at one place of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// The path: `$.selected_repos[0].name`.
    pub path: String,
    /// The error message.
    pub message: String,
    /// Whether a required field is missing.
    pub missing: bool,
}

impl ValidationError {
    fn wrong(path: impl Into<String>, message: String) -> Self {
        Self { path: path.into(), message, missing: false }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Shape {
    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns all errors of `value`: missing required fields, unknown fields, wrong types, values out of bounds.
    pub fn check(&self, value: &Value) -> Vec<ValidationError> {
        let mut errors = Vec::new();
        self.check_at(value, "$", &mut errors);
        errors
    }

    fn check_at(&self, value: &Value, path: &str, out: &mut Vec<ValidationError>) {
        let Value::Object(object) = value else {
            out.push(ValidationError::wrong(path, format!("expected an object, got {}", name_of(value))));
            return;
        };
        for field in &self.fields {
            let at = format!("{path}.{}", field.name);
            match object.get(&field.name) {
                None | Some(Value::Null) if field.required => {
                    out.push(ValidationError { path: at, message: "is required and missing".into(), missing: true });
                }
                None | Some(Value::Null) => {}
                Some(value) => field.kind.check_at(value, &at, out),
            }
        }
        for name in object.keys().filter(|name| self.field(name).is_none()) {
            let known = asterisk_diag::nearest(name, self.fields.iter().map(|field| field.name.as_str()));
            let hint = known.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            out.push(ValidationError::wrong(format!("{path}.{name}"), format!("is not a field of the {}{hint}", self.name)));
        }
    }
}

impl Kind {
    /// The name of the type in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Any => "anything".into(),
            Self::Bool => "bool".into(),
            Self::Int { .. } => "int".into(),
            Self::Number { .. } => "number".into(),
            Self::Text { .. } => "string".into(),
            Self::List(item) => format!("list of {}", item.name()),
            Self::Object(shape) => shape.name.clone(),
            Self::Map(item) => format!("map of {}", item.name()),
        }
    }

    /// Whether a value is of this type and within its bounds.
    pub fn accepts(&self, value: &Value) -> bool {
        let mut errors = Vec::new();
        self.check_at(value, "$", &mut errors);
        errors.is_empty()
    }

    fn check_at(&self, value: &Value, path: &str, out: &mut Vec<ValidationError>) {
        let mut bad = |message: String| out.push(ValidationError::wrong(path, message));
        match (self, value) {
            (Self::Any, _) | (Self::Bool, Value::Bool(_)) => {}
            (Self::Int { min, max }, Value::Number(number)) if number.is_i64() => {
                let number = number.as_i64().unwrap_or_default();
                if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
                    bad(format!("{number} is out of bounds ({})", bounds(*min, *max)));
                }
            }
            (Self::Number { min, max }, Value::Number(number)) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
                    bad(format!("{number} is out of bounds ({})", bounds(*min, *max)));
                }
            }
            (Self::Text { one_of }, Value::String(text)) => {
                if !one_of.is_empty() && !one_of.contains(text) {
                    let hint = asterisk_diag::nearest(text, one_of.iter().map(String::as_str));
                    let hint = hint.map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
                    bad(format!("`{text}` is not one of {}{hint}", one_of.join(", ")));
                }
            }
            (Self::List(item), Value::Array(items)) => {
                for (index, value) in items.iter().enumerate() {
                    item.check_at(value, &format!("{path}[{index}]"), out);
                }
            }
            (Self::Object(shape), value) => shape.check_at(value, path, out),
            (Self::Map(item), Value::Object(object)) => {
                for (key, value) in object {
                    item.check_at(value, &format!("{path}.{key}"), out);
                }
            }
            _ => bad(format!("expected {}, got {}", self.name(), name_of(value))),
        }
    }
}

fn bounds<T: fmt::Display>(min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("{max} or less"),
        (None, None) => "any".into(),
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "a whole number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shape() -> Shape {
        let field = |name: &str, kind, required| Field { name: name.into(), kind, required };
        let repo = Shape { name: "repo".into(), sparse: false, fields: vec![field("name", Kind::Text { one_of: vec![] }, true)] };
        Shape {
            name: "test artifact".into(),
            sparse: false,
            fields: vec![
                field("confidence", Kind::Number { min: Some(0.0), max: Some(1.0) }, true),
                field("decision", Kind::Text { one_of: vec!["approve".into(), "reassess".into()] }, false),
                field("repos", Kind::List(Box::new(Kind::Object(Arc::new(repo)))), false),
                field("loops", Kind::Map(Box::new(Kind::Int { min: Some(0), max: None })), false),
            ],
        }
    }

    #[test]
    fn a_valid_artifact_is_accepted() {
        let good = json!({"confidence": 1, "decision": null, "repos": [{"name": "a"}], "loops": {"x": 2}});
        assert_eq!(shape().check(&good), vec![]);
    }

    #[test]
    fn every_error_has_its_path() {
        let bad = json!({"confidence": 1.5, "decision": "aprove", "repos": [{}, {"name": 3}], "loops": {"x": -1}, "zz": 1});
        let message: Vec<String> = shape().check(&bad).iter().map(ToString::to_string).collect();
        assert_eq!(
            message,
            [
                "$.confidence: 1.5 is out of bounds (0 to 1)",
                "$.decision: `aprove` is not one of approve, reassess; did you mean `approve`?",
                "$.repos[0].name: is required and missing",
                "$.repos[1].name: expected string, got a whole number",
                "$.loops.x: -1 is out of bounds (0 or more)",
                "$.zz: is not a field of the test artifact",
            ]
        );
    }

    #[test]
    fn a_non_object_is_reported() {
        assert_eq!(shape().check(&json!(null))[0].to_string(), "$: expected an object, got null");
    }
}
