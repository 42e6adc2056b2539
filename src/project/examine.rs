//! Everything that can be told of the functions a pipeline names, without running them: what the linter goes by.

use super::{kinds, vars};
use crate::model::Kind;
use crate::pipeline::{self, EdgeCondition, EdgeIx, EdgeOrigin, NodeIx, Pipeline, Spanned};
use crate::script::check::{Analysis, CheckedParameter, Checker};
use crate::script::{FunctionRef, Library, LinkedScript, Unit};
use std::collections::BTreeMap;

/// Where a pipeline names a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionUse {
    /// As the rule or condition of an edge: `(artifact, state, vars)`.
    Edge(EdgeIx),
    /// As what answers a node, by its own `script:` or its family: `(params, vars)`.
    Responder(NodeIx),
    /// As what a node's artifact makes the store do: `(artifact, params)`.
    Effect(NodeIx),
    /// As what makes the list of items that a node is taken for: `(params, vars)`.
    Items(NodeIx),
    /// As what makes the arguments of a node's tool: `(params, vars)`.
    Arguments(NodeIx),
    /// As what makes one artifact of those of a node's items: `(branches, vars)`.
    Merge(NodeIx),
    /// As what says which cases are alike: `(params, vars)`.
    Cluster,
    /// As what sums a case up for the report: `(params, vars)`.
    Summary,
    /// As what chooses who takes a step: `(ctx)`.
    Scheduler,
}

/// A function that a pipeline names.
#[derive(Debug)]
pub struct ExaminedFunction<'a> {
    /// Where it is named.
    pub place: FunctionUse,
    /// The text it stands in: a script or a condition.
    pub unit: &'a Unit,
    /// Its name.
    pub name: String,
    /// What it is given, by the names of the role.
    pub inputs: Vec<(&'static str, Kind)>,
    /// What was found out.
    pub analysis: Analysis,
}

/// Looks through every function that the pipeline names and that is there. `condition` gives the text of an edge's condition.
pub fn examine<'a>(
    pipeline: &Pipeline,
    library: &'a Library,
    condition: &dyn Fn(&str) -> Option<&'a Unit>,
) -> Vec<ExaminedFunction<'a>> {
    let mut found: Vec<NamedFunction<'a>> = Vec::new();
    let script = |reference: &str| {
        let reference = FunctionRef::parse(reference).ok()?;
        Some((library.file(&reference.file)?.unit(), reference.function))
    };
    let named = |reference: &Option<Spanned<String>>| reference.as_ref().and_then(|reference| script(reference));
    let vars = vars::kind(pipeline, &pipeline.vars_json());
    let params = |first: (&'static str, Kind)| vec![first, ("vars", vars.clone())];
    for (at, edge) in pipeline.edges.iter().enumerate() {
        let artifact = match edge.from {
            EdgeOrigin::Node(node) => artifact(pipeline, node),
            EdgeOrigin::Any => Kind::Any,
        };
        let function = match &edge.when {
            EdgeCondition::Always => None,
            EdgeCondition::Rule(reference) => script(reference),
            EdgeCondition::Condition(_) => condition(&edge.id).map(|unit| (unit, "condition".to_owned())),
        };
        let inputs = vec![("artifact", artifact), ("state", kinds::state()), ("vars", vars.clone())];
        found.extend(function.map(|(unit, name)| (FunctionUse::Edge(EdgeIx(at)), unit, name, inputs)));
    }
    for (at, node) in pipeline.nodes.iter().enumerate() {
        let family = || script(&format!("agents/{0}.rhai#{0}", *node.family));
        let responder = match node {
            _ if node.tool.is_some() => None,
            _ if node.script.is_some() => named(&node.script),
            _ => family(),
        };
        let place = NodeIx(at);
        found.extend(responder.map(|(unit, name)| (FunctionUse::Responder(place), unit, name, params(("params", Kind::Any)))));
        let inputs = vec![("artifact", artifact(pipeline, place)), ("params", Kind::Any)];
        if let Some(fan) = &node.fan {
            if let pipeline::ComputedValue::Function(reference) = &fan.items {
                let function = script(reference);
                found.extend(function.map(|(unit, name)| (FunctionUse::Items(place), unit, name, params(("params", Kind::Any)))));
            }
            if let pipeline::Merge::Function(reference) = &fan.merge {
                let function = script(reference);
                found.extend(
                    function.map(|(unit, name)| (FunctionUse::Merge(place), unit, name, params(("branches", Kind::Any)))),
                );
            }
        }
        if let Some(pipeline::ComputedValue::Function(reference)) = node.tool.as_ref().and_then(|tool| tool.arguments.as_ref()) {
            let function = script(reference);
            found.extend(function.map(|(unit, name)| (FunctionUse::Arguments(place), unit, name, params(("params", Kind::Any)))));
        }
        found.extend(named(&node.effect).map(|(unit, name)| (FunctionUse::Effect(place), unit, name, inputs)));
    }
    let by = pipeline.clusters.as_ref().and_then(|clusters| script(&clusters.by));
    found.extend(by.map(|(unit, name)| (FunctionUse::Cluster, unit, name, params(("params", Kind::Any)))));
    found.extend(named(&pipeline.report).map(|(unit, name)| (FunctionUse::Summary, unit, name, params(("params", Kind::Any)))));
    let scheduler = pipeline.team.as_ref().and_then(|team| script(&super::team::select(&team.scheduler)));
    found.extend(scheduler.map(|(unit, name)| (FunctionUse::Scheduler, unit, name, vec![("ctx", kinds::scheduling())])));
    analysed(found, library)
}

fn artifact(pipeline: &Pipeline, node: NodeIx) -> Kind {
    super::linker::merged_kind(pipeline.at(node))
}

/// A function as it is named, before it was looked through.
type NamedFunction<'a> = (FunctionUse, &'a Unit, String, Vec<(&'static str, Kind)>);

fn analysed<'a>(found: Vec<NamedFunction<'a>>, library: &'a Library) -> Vec<ExaminedFunction<'a>> {
    let modules = |path: &str| library.file(path).map(LinkedScript::unit);
    let mut analyses = Vec::new();
    {
        // One for each text: looking through a script takes longer than checking a function of it.
        let mut checkers: BTreeMap<&str, Checker<'_>> = BTreeMap::new();
        for (_, unit, name, inputs) in &found {
            let checker = checkers.entry(unit.name()).or_insert_with(|| Checker::new(unit, &modules).with_facts());
            let inputs: Vec<CheckedParameter<'_>> = inputs.iter().map(|(name, kind)| CheckedParameter { name, kind }).collect();
            analyses.push(checker.function(name, &inputs));
        }
    }
    let whole = |((place, unit, name, inputs), analysis)| ExaminedFunction { place, unit, name, inputs, analysis };
    found.into_iter().zip(analyses).map(whole).collect()
}
