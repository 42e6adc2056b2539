//! Artifact shapes as JSON Schema 2020-12, for models that constrain their output by it.

use super::shape::Kind;
use serde_json::{Map, Value, json};

impl Kind {
    /// The shape as JSON Schema.
    pub fn json_schema(&self) -> Value {
        match self {
            Self::Any => json!({}),
            Self::Bool => json!({ "type": "boolean" }),
            Self::Int { min, max } => bounded("integer", min.map(Value::from), max.map(Value::from)),
            Self::Number { min, max } => bounded("number", min.map(Value::from), max.map(Value::from)),
            Self::Text { one_of } if one_of.is_empty() => json!({ "type": "string" }),
            Self::Text { one_of } => json!({ "type": "string", "enum": one_of }),
            Self::List(item) => json!({ "type": "array", "items": item.json_schema() }),
            Self::Map(item) => json!({ "type": "object", "additionalProperties": item.json_schema() }),
            Self::Object(shape) => {
                let fields = shape.fields.iter().map(|field| (field.name.clone(), field.kind.json_schema()));
                let required: Vec<&str> =
                    shape.fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
                json!({
                    "type": "object",
                    "properties": fields.collect::<Map<_, _>>(),
                    "required": required,
                    "additionalProperties": false,
                })
            }
        }
    }
}

fn bounded(kind: &str, min: Option<Value>, max: Option<Value>) -> Value {
    let mut schema = json!({ "type": kind });
    for (key, bound) in [("minimum", min), ("maximum", max)] {
        if let Some(bound) = bound {
            schema[key] = bound;
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Field, Shape};
    use std::sync::Arc;

    #[test]
    fn a_schema_includes_bounds() {
        let field = |name: &str, kind, required| Field { name: name.into(), kind, required };
        let fields = vec![
            field("sure", Kind::Number { min: Some(0.0), max: Some(1.0) }, true),
            field("code", Kind::Text { one_of: vec!["a".into(), "b".into()] }, false),
            field("notes", Kind::List(Box::new(Kind::Map(Box::new(Kind::Int { min: None, max: Some(3) })))), false),
        ];
        let schema = Kind::Object(Arc::new(Shape { name: "artifact".into(), fields, sparse: false })).json_schema();
        let notes = json!({ "type": "array", "items": { "type": "object", "additionalProperties": { "type": "integer", "maximum": 3 } } });
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "sure": { "type": "number", "minimum": 0.0, "maximum": 1.0 },
                    "code": { "type": "string", "enum": ["a", "b"] },
                    "notes": notes,
                },
                "required": ["sure"],
                "additionalProperties": false,
            })
        );
    }
}
