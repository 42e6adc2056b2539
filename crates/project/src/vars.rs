//! The effective vars: the pipeline's defaults with overrides.

use super::policy::is_policy;
use super::settings::{LinkSettings, VarPlaces};
use super::subpipelines::Subpipelines;
use asterisk_base::model::{Field, Kind, Shape};
use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean, nearest};
use asterisk_pipeline::Pipeline;
use asterisk_walk::Plan;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Moves vars of settings files that the pipeline or a sub-pipeline has to those set for it, and returns them all, with the
/// locations where they are set. A var that no pipeline has is an error, whether it is set for this pipeline or in the project's
/// file; in the user's own file it belongs to another project, unless its name is similar to one of this pipeline's: then it is a
/// warning.
pub(super) fn resolve_project_vars(
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
        let similar = nearest(name, names.iter().copied());
        if var.elsewhere || !(var.own || similar.is_some()) {
            continue;
        }
        let (source, span) = &var.place;
        let diagnostic = if var.own {
            Diagnostic::error("project/unknown-var", format!("no pipeline of the project declares a var `{name}`"))
        } else {
            let message = format!("the var `{name}` is set, but the pipeline `{}` does not declare it", *pipeline.name);
            Diagnostic::warning("project/unknown-var", message)
        };
        let known = || match names.as_slice() {
            [] => format!("the pipeline `{}` has no vars", *pipeline.name),
            names => format!("the pipeline `{}` has {}", *pipeline.name, names.join(", ")),
        };
        let help = similar.map_or_else(known, |similar| format!("did you mean `{similar}`?"));
        found.push(diagnostic.label(source, *span, "set here").help(help));
    }
    (settings.vars.clone(), places)
}

/// The vars set for a sub-pipeline: those set from outside, and those of the enclosing walk.
pub(super) fn within(set: &Map<String, Value>, outer: &Map<String, Value>) -> Map<String, Value> {
    let both = set.iter().chain(outer);
    both.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The locations of the vars set for a sub-pipeline of `pipeline`; vars not set from outside are set there.
pub(super) fn places_within(pipeline: &Pipeline, set: &Map<String, Value>, places: &VarPlaces) -> VarPlaces {
    let defaults = pipeline.vars.iter().filter(|(name, _)| !set.contains_key(*name));
    let defaults = defaults.map(|(name, var)| (name.clone(), (pipeline.source.clone(), var.default.span)));
    places.iter().map(|(name, place)| (name.clone(), place.clone())).chain(defaults).collect()
}

/// Reports vars that neither a plan nor any of its sub-pipelines has.
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

/// The errors for vars that none of some pipelines has; the first is the main pipeline.
fn known(all: &[&Pipeline], set: &Map<String, Value>) -> impl Iterator<Item = Diagnostic> {
    let names = || all.iter().flat_map(|pipeline| pipeline.vars.keys()).map(String::as_str);
    let name = all.first().map_or("", |pipeline| pipeline.name.as_str());
    let own = set.keys().filter(|name| !is_policy(name));
    let lacking = own.filter(|name| !names().any(|known| known == name.as_str()));
    let error = |var: &String| {
        let message = format!("no var `{var}` in the pipeline `{name}`");
        Diagnostic::error("project/unknown-var", message).maybe_help(did_you_mean(var, names()))
    };
    lacking.map(error).collect::<Vec<_>>().into_iter()
}

/// Overrides the pipeline's vars with those of `set` that it has. A value of the wrong type is an error, labelled where it is
/// set, if known.
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
        let help = format!("use {allowed}, such as `{name}={}`", var.default.value);
        found.push(diagnostic.label(&pipeline.source, var.default.span, "its default is here").help(help));
    }
    found.into_result(vars)
}

/// The types of the vars: as declared; otherwise an integer only if both default and value are integers.
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
    Kind::Object(Arc::new(Shape { name: "vars".into(), fields: vars.iter().map(field).collect(), sparse: false }))
}
