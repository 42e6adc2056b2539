//! The declared form of an artifact: what validation, reading in scripts, lint and completion go by.

use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Anything.
    Any,
    /// `true` or `false`.
    Bool,
    /// A whole number, within bounds (inclusive) if given.
    Int { min: Option<i64>, max: Option<i64> },
    /// A number, within bounds (inclusive) if given; scripts always see it as a float.
    Number { min: Option<f64>, max: Option<f64> },
    /// A text; one of the given ones if the list is not empty.
    Text { one_of: Vec<String> },
    /// A list of values of one kind.
    List(Box<Self>),
    /// An object with known fields.
    Object(Arc<Shape>),
    /// An object with any keys, whose values are of one kind.
    Map(Box<Self>),
}

/// A field of a [`Shape`].
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Whether an accepted artifact must have it.
    pub required: bool,
}

/// The fields of an object. Fields that are not listed are refused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// What people call it (`recall artifact`).
    pub name: String,
    /// Its fields, in the order declared.
    pub fields: Vec<Field>,
}

/// What is wrong with one place of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The place: `$.selected_repos[0].name`.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Shape {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Everything that keeps `value` from being an acceptable artifact: missing required fields, unknown fields, wrong
    /// types, values out of bounds.
    pub fn check(&self, value: &Value) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        self.check_at(value, "$", &mut complaints);
        complaints
    }

    fn check_at(&self, value: &Value, path: &str, out: &mut Vec<Complaint>) {
        let Value::Object(object) = value else {
            out.push(Complaint { path: path.into(), message: format!("expected an object, got {}", name_of(value)) });
            return;
        };
        for field in &self.fields {
            let at = format!("{path}.{}", field.name);
            match object.get(&field.name) {
                None | Some(Value::Null) if field.required => {
                    out.push(Complaint { path: at, message: "is required and missing".into() });
                }
                None | Some(Value::Null) => {}
                Some(value) => field.kind.check_at(value, &at, out),
            }
        }
        for name in object.keys().filter(|name| self.field(name).is_none()) {
            let known = crate::diag::nearest(name, self.fields.iter().map(|field| field.name.as_str()));
            let hint = known.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            out.push(Complaint { path: format!("{path}.{name}"), message: format!("is not a field of the {}{hint}", self.name) });
        }
    }
}

impl Kind {
    /// What people call it.
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

    /// Whether a value is of this type, within its bounds.
    pub fn accepts(&self, value: &Value) -> bool {
        let mut complaints = Vec::new();
        self.check_at(value, "$", &mut complaints);
        complaints.is_empty()
    }

    fn check_at(&self, value: &Value, path: &str, out: &mut Vec<Complaint>) {
        let mut bad = |message: String| out.push(Complaint { path: path.into(), message });
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
                    let hint = crate::diag::nearest(text, one_of.iter().map(String::as_str));
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
        let repo = Shape { name: "repo".into(), fields: vec![field("name", Kind::Text { one_of: vec![] }, true)] };
        Shape {
            name: "test artifact".into(),
            fields: vec![
                field("confidence", Kind::Number { min: Some(0.0), max: Some(1.0) }, true),
                field("decision", Kind::Text { one_of: vec!["approve".into(), "reassess".into()] }, false),
                field("repos", Kind::List(Box::new(Kind::Object(Arc::new(repo)))), false),
                field("loops", Kind::Map(Box::new(Kind::Int { min: Some(0), max: None })), false),
            ],
        }
    }

    #[test]
    fn a_good_artifact_has_no_complaints() {
        let good = json!({"confidence": 1, "decision": null, "repos": [{"name": "a"}], "loops": {"x": 2}});
        assert_eq!(shape().check(&good), vec![]);
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        let bad = json!({"confidence": 1.5, "decision": "aprove", "repos": [{}, {"name": 3}], "loops": {"x": -1}, "zz": 1});
        let said: Vec<String> = shape().check(&bad).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
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
    fn what_is_no_object_is_said_so() {
        assert_eq!(shape().check(&json!(null))[0].to_string(), "$: expected an object, got null");
    }
}
