//! The vars in force: the pipeline's defaults, overlaid from outside.

use crate::diag::{Diagnostic, Diagnostics, did_you_mean};
use crate::model::{Field, Kind, Shape};
use crate::pipeline::Pipeline;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Overlays the pipeline's vars with `set`. A var that the pipeline does not declare, or of another type than its
/// default, is an error.
pub(super) fn overlay(pipeline: &Pipeline, set: &Map<String, Value>) -> Result<Map<String, Value>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut vars = pipeline.vars_json();
    for (name, value) in set {
        match pipeline.vars.get(name) {
            None => {
                let message = format!("the pipeline `{}` has no var `{name}`", *pipeline.name);
                let hint = did_you_mean(name, pipeline.vars.keys().map(String::as_str));
                found.push(Diagnostic::error("project/unknown-var", message).maybe_help(hint));
            }
            Some(default) if word(&default.value) != word(value) && !default.value.is_null() => {
                let message = format!("the var `{name}` is {}, and cannot be set to {value}", word(&default.value));
                let diagnostic = Diagnostic::error("project/var-type", message);
                found.push(diagnostic.label(&pipeline.source, default.span, "its default is here"));
            }
            Some(_) => {
                vars.insert(name.clone(), value.clone());
            }
        }
    }
    found.into_result(vars)
}

/// The types of the vars, for reading and checking: whole only where default and value are whole numbers.
pub(super) fn kind(pipeline: &Pipeline, vars: &Map<String, Value>) -> Kind {
    let of = |name: &str, value: &Value| match value {
        Value::Bool(_) => Kind::Bool,
        Value::Number(number) if number.is_i64() && pipeline.vars.get(name).is_none_or(|default| default.is_i64()) => {
            Kind::Int { min: None, max: None }
        }
        Value::Number(_) => Kind::Number { min: None, max: None },
        Value::String(_) => Kind::Text { one_of: Vec::new() },
        _ => Kind::Any,
    };
    let field = |(name, value): (&String, &Value)| Field { name: name.clone(), kind: of(name, value), required: true };
    Kind::Object(Arc::new(Shape { name: "vars".into(), fields: vars.iter().map(field).collect() }))
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
