//! The vars in force: the pipeline's defaults, overlaid from outside.

use super::Settings;
use crate::diag::{Diagnostic, Diagnostics, did_you_mean, nearest};
use crate::model::{Field, Kind, Shape};
use crate::pipeline::Pipeline;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Moves the project's vars that the pipeline has to those set for it, and returns them all. One that the pipeline lacks is
/// another pipeline's, unless its name is nearly that of one of this pipeline's: then it is a slip, and a warning.
pub(super) fn of_project(pipeline: &Pipeline, settings: &mut Settings, found: &mut Diagnostics) -> Map<String, Value> {
    for (name, value) in std::mem::take(&mut settings.project_vars) {
        let near = nearest(&name, pipeline.vars.keys().map(String::as_str));
        match (pipeline.vars.contains_key(&name), near) {
            (true, _) => {
                settings.vars.entry(name).or_insert(value);
            }
            (false, Some(near)) => {
                let message = format!("the project file sets `{name}`, which the pipeline `{}` does not have", *pipeline.name);
                let help = format!("did you mean `{near}`?");
                found.push(Diagnostic::warning("project/unknown-var", message).help(help));
            }
            (false, None) => {}
        }
    }
    settings.vars.clone()
}

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
                let help = format!("give {}, such as `{name}={}`", word(&default.value), default.value);
                found.push(diagnostic.label(&pipeline.source, default.span, "its default is here").help(help));
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
