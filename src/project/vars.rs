//! The vars in force: the pipeline's defaults, overlaid from outside.

use super::Settings;
use super::parts::Parts;
use crate::diag::{Diagnostic, Diagnostics, did_you_mean, nearest};
use crate::model::{Field, Kind, Shape};
use crate::pipeline::Pipeline;
use crate::walk::Plan;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Moves the project's vars that the pipeline or a part of it has to those set for it, and returns them all. One that they lack
/// is another pipeline's, unless its name is nearly that of one of this pipeline's: then it is a slip, and a warning. One that is
/// set for this pipeline and nobody has is an error.
pub(super) fn of_project(
    pipeline: &Pipeline,
    parts: &Parts,
    settings: &mut Settings,
    found: &mut Diagnostics,
) -> Map<String, Value> {
    let all: Vec<&Pipeline> = std::iter::once(pipeline).chain(parts.values().map(Arc::as_ref)).collect();
    found.extend(known(&all, &settings.vars));
    for (name, value) in std::mem::take(&mut settings.project_vars) {
        let near = nearest(&name, pipeline.vars.keys().map(String::as_str));
        match (all.iter().any(|pipeline| pipeline.vars.contains_key(&name)), near) {
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

/// What is set for a walk in the place of a node: what is set from outside, and the vars of the walk around it.
pub(super) fn within(set: &Map<String, Value>, around: &Map<String, Value>) -> Map<String, Value> {
    let both = set.iter().chain(around);
    both.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Says which vars neither a plan nor any of its parts has.
pub(super) fn all_known(plan: &Plan, set: &Map<String, Value>) -> Result<(), Diagnostics> {
    fn of<'a>(plan: &'a Plan, all: &mut Vec<&'a Pipeline>) {
        all.push(&plan.pipeline);
        plan.nodes.iter().filter_map(|node| node.part.as_ref()).for_each(|part| of(part, all));
    }
    let mut all = Vec::new();
    of(plan, &mut all);
    let found: Diagnostics = known(&all, set).collect();
    found.into_result(())
}

/// What is wrong with vars that none of some pipelines has, of which the first is the one that is walked.
fn known(all: &[&Pipeline], set: &Map<String, Value>) -> impl Iterator<Item = Diagnostic> {
    let names = || all.iter().flat_map(|pipeline| pipeline.vars.keys()).map(String::as_str);
    let name = all.first().map_or("", |pipeline| pipeline.name.as_str());
    let lacking = set.keys().filter(|name| !names().any(|known| known == name.as_str()));
    let complaint = |var: &String| {
        let message = format!("the pipeline `{name}` has no var `{var}`");
        Diagnostic::error("project/unknown-var", message).maybe_help(did_you_mean(var, names()))
    };
    lacking.map(complaint).collect::<Vec<_>>().into_iter()
}

/// Overlays the pipeline's vars with those of `set` that it has. One of another type than its default is an error.
pub(super) fn overlay(pipeline: &Pipeline, set: &Map<String, Value>) -> Result<Map<String, Value>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut vars = pipeline.vars_json();
    for (name, value) in set {
        match pipeline.vars.get(name) {
            None => {}
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
