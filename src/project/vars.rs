//! The vars in force: the pipeline's defaults, overlaid from outside.

use super::settings::{LinkSettings, VarPlaces};
use super::subpipelines::Subpipelines;
use crate::diag::{Diagnostic, Diagnostics, did_you_mean, nearest};
use crate::model::{Field, Kind, Shape};
use crate::pipeline::Pipeline;
use crate::walk::Plan;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Moves the project's vars that the pipeline or a part of it has to those set for it, and returns them all, with the places where
/// they are set. A var that nobody has is an error, whether it is set for this pipeline or in the project's file; in the user's own
/// file it is for another project, unless its name is nearly that of one of this pipeline's: then it is a warning.
pub(super) fn of_project(
    pipeline: &Pipeline,
    parts: &Subpipelines,
    settings: &mut LinkSettings,
    found: &mut Diagnostics,
) -> (Map<String, Value>, VarPlaces) {
    let all: Vec<&Pipeline> = std::iter::once(pipeline).chain(parts.values().map(Arc::as_ref)).collect();
    found.extend(known(&all, &settings.vars));
    let project_vars = std::mem::take(&mut settings.project_vars);
    let mut places = std::mem::take(&mut settings.set_places);
    let names: Vec<&str> = all.iter().flat_map(|pipeline| pipeline.vars.keys()).map(String::as_str).collect();
    for (name, var) in &project_vars {
        if names.contains(&name.as_str()) {
            if !settings.vars.contains_key(name) {
                settings.vars.insert(name.clone(), var.value.clone());
                places.insert(name.clone(), var.place.clone());
            }
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
    (settings.vars.clone(), places)
}

/// What is set for a walk in the place of a node: what is set from outside, and the vars of the walk around it.
pub(super) fn within(set: &Map<String, Value>, around: &Map<String, Value>) -> Map<String, Value> {
    let both = set.iter().chain(around);
    both.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The places of what is set for a walk in the place of a node of `pipeline`: what is not set from outside is set there.
pub(super) fn places_within(pipeline: &Pipeline, set: &Map<String, Value>, places: &VarPlaces) -> VarPlaces {
    let defaults = pipeline.vars.iter().filter(|(name, _)| !set.contains_key(*name));
    let defaults = defaults.map(|(name, var)| (name.clone(), (pipeline.source.clone(), var.default.span)));
    places.iter().map(|(name, place)| (name.clone(), place.clone())).chain(defaults).collect()
}

/// Says which vars neither a plan nor any of its parts has.
pub(super) fn all_known(plan: &Plan, set: &Map<String, Value>) -> Result<(), Diagnostics> {
    fn of<'a>(plan: &'a Plan, all: &mut Vec<&'a Pipeline>) {
        all.push(&plan.pipeline);
        plan.nodes.iter().filter_map(|node| node.subpipeline.as_ref()).for_each(|part| of(part, all));
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

/// Overlays the pipeline's vars with those of `set` that it has. A value that its var does not accept is an error, labelled where
/// it is set, if that is known.
pub(super) fn overlay(
    pipeline: &Pipeline,
    set: &Map<String, Value>,
    places: &VarPlaces,
) -> Result<Map<String, Value>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut vars = pipeline.vars_json();
    for (name, value) in set {
        let Some(var) = pipeline.vars.get(name) else { continue };
        if var.accepts(value) {
            vars.insert(name.clone(), value.clone());
            continue;
        }
        let allowed = var.allowed();
        let message = format!("the var `{name}` is {allowed}, and cannot be set to {value}");
        let mut diagnostic = Diagnostic::error("project/var-type", message);
        if let Some((source, span)) = places.get(name) {
            diagnostic = diagnostic.label(source, *span, "set here");
        }
        let help = format!("give {allowed}, such as `{name}={}`", var.default.value);
        found.push(diagnostic.label(&pipeline.source, var.default.span, "its default is here").help(help));
    }
    found.into_result(vars)
}

/// The types of the vars, for reading and checking: those declared; of others whole only where default and value are whole
/// numbers.
pub(super) fn kind(pipeline: &Pipeline, vars: &Map<String, Value>) -> Kind {
    let of = |name: &str, value: &Value| {
        let var = pipeline.vars.get(name);
        match (var.and_then(|var| var.declared.clone()), value) {
            (Some(declared), _) => declared,
            (None, Value::Bool(_)) => Kind::Bool,
            (None, Value::Number(number)) if number.is_i64() && var.is_none_or(|var| var.default.is_i64()) => {
                Kind::Int { min: None, max: None }
            }
            (None, Value::Number(_)) => Kind::Number { min: None, max: None },
            (None, Value::String(_)) => Kind::Text { one_of: Vec::new() },
            _ => Kind::Any,
        }
    };
    let field = |(name, value): (&String, &Value)| Field { name: name.clone(), kind: of(name, value), required: true };
    Kind::Object(Arc::new(Shape { name: "vars".into(), fields: vars.iter().map(field).collect() }))
}
