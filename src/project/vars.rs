//! The vars in force: the pipeline's defaults, overlaid from outside.

use super::LinkSettings;
use super::subpipelines::Subpipelines;
use crate::diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean, nearest};
use crate::model::{Field, Kind, Shape};
use crate::pipeline::Pipeline;
use crate::walk::Plan;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A var that a file of settings sets for all pipelines that have it.
#[derive(Clone, Debug)]
pub struct ProjectVar {
    /// Its value.
    pub value: Value,
    /// Where it is set.
    pub place: (Source, Span),
    /// Whether the project's own file sets it. The user's is for other projects as well.
    pub own: bool,
    /// Whether another pipeline of the project has it.
    pub elsewhere: bool,
}

/// Such vars by name.
pub type ProjectVars = BTreeMap<String, ProjectVar>;

/// Moves the project's vars that the pipeline or a part of it has to those set for it, and returns them all, with the project's
/// as they were. A var that nobody has is an error, whether it is set for this pipeline or in the project's file; in the user's own
/// file it is for another project, unless its name is nearly that of one of this pipeline's: then it is a warning.
pub(super) fn of_project(
    pipeline: &Pipeline,
    parts: &Subpipelines,
    settings: &mut LinkSettings,
    found: &mut Diagnostics,
) -> (Map<String, Value>, ProjectVars) {
    let all: Vec<&Pipeline> = std::iter::once(pipeline).chain(parts.values().map(Arc::as_ref)).collect();
    found.extend(known(&all, &settings.vars));
    let project_vars = std::mem::take(&mut settings.project_vars);
    let names: Vec<&str> = all.iter().flat_map(|pipeline| pipeline.vars.keys()).map(String::as_str).collect();
    for (name, var) in &project_vars {
        if names.contains(&name.as_str()) {
            settings.vars.entry(name.clone()).or_insert_with(|| var.value.clone());
            continue;
        }
        let near = nearest(name, names.iter().copied());
        if var.elsewhere || !(var.own || near.is_some()) {
            continue;
        }
        let (source, span) = &var.place;
        let diagnostic = if var.own {
            Diagnostic::error("project/unknown-var", format!("no pipeline of the project has a var `{name}`"))
        } else {
            let message = format!("`{name}` is set, which the pipeline `{}` does not have", *pipeline.name);
            Diagnostic::warning("project/unknown-var", message)
        };
        let known = || match names.as_slice() {
            [] => format!("the pipeline `{}` has no vars", *pipeline.name),
            names => format!("the pipeline `{}` has {}", *pipeline.name, names.join(", ")),
        };
        let help = near.map_or_else(known, |near| format!("did you mean `{near}`?"));
        found.push(diagnostic.label(source, *span, "set here").help(help));
    }
    (settings.vars.clone(), project_vars)
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

/// Overlays the pipeline's vars with those of `set` that it has. One of another type than its default is an error, labelled where
/// the project sets it, if it does.
pub(super) fn overlay(
    pipeline: &Pipeline,
    set: &Map<String, Value>,
    project: &ProjectVars,
) -> Result<Map<String, Value>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut vars = pipeline.vars_json();
    for (name, value) in set {
        match pipeline.vars.get(name) {
            None => {}
            Some(default) if word(&default.value) != word(value) && !default.value.is_null() => {
                let message = format!("the var `{name}` is {}, and cannot be set to {value}", word(&default.value));
                let mut diagnostic = Diagnostic::error("project/var-type", message);
                if let Some(ProjectVar { place: (source, span), .. }) = project.get(name).filter(|var| var.value == *value) {
                    diagnostic = diagnostic.label(source, *span, "set here");
                }
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
