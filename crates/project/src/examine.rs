//! Static analysis of the functions that a pipeline refers to, for the linter.

use super::{kinds, vars};
use asterisk_base::model::Kind;
use asterisk_pipeline::{self as pipeline, EdgeCondition, EdgeIx, EdgeOrigin, NodeIx, Pipeline, Spanned};
use asterisk_script::check::{Analysis, CheckedParameter, Checker, ReturnedValue};
use asterisk_script::{FunctionRef, Library, LinkedScript, Unit};
use asterisk_walk::{ProjectWords, group_kind};
use std::collections::BTreeMap;

/// How a pipeline uses a function, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionUse {
    /// The rule or condition of an edge: `(artifact, state, vars)`.
    Edge(EdgeIx),
    /// The responder of a node, from its `script:` or its family: `(params, vars)`.
    Responder(NodeIx),
    /// The acceptance of a node's answers: `(artifact, vars)`.
    Accept(NodeIx),
    /// The effect of a node: `(artifact, params)`.
    Effect(NodeIx),
    /// The items of a `foreach` node: `(params, vars)`.
    Items(NodeIx),
    /// The arguments of a node's tool: `(params, vars)`.
    Arguments(NodeIx),
    /// The merge of a `foreach` node's artifacts: `(branches, vars)`.
    Merge(NodeIx),
    /// The cluster key of cases: `(params, vars)`.
    Cluster,
    /// A rule of the verdict: `(evidence, context, vars)`.
    VerdictRule(usize),
    /// The strength of signatures in the verdict: `(found, evidence, context, vars)`.
    SignatureStrength,
    /// A rule of roots: `(evidence, context, vars)`.
    RootRule(usize),
    /// The summary of a case for the report: `(params, vars)`.
    Summary,
    /// The result of a subpipeline: `(walk, vars)`.
    SubpipelineResult,
    /// The scheduler of a team: `(ctx)`.
    Scheduler,
}

/// An analysed function of a pipeline.
#[derive(Debug)]
pub struct ExaminedFunction<'a> {
    /// How it is used.
    pub place: FunctionUse,
    /// Its text: a script or a condition.
    pub unit: &'a Unit,
    pub name: String,
    /// The types of its parameters, by name.
    pub inputs: Vec<(&'static str, Kind)>,
    /// The result of the analysis.
    pub analysis: Analysis,
}

/// Analyses every existing function that a pipeline refers to. `words` are the texts that the project knows; `condition` returns the text of
/// an edge's condition.
pub fn examine<'a>(
    pipeline: &Pipeline,
    library: &'a Library,
    words: &ProjectWords<'_>,
    condition: &dyn Fn(&str) -> Option<&'a Unit>,
) -> Vec<ExaminedFunction<'a>> {
    let mut found: Vec<NamedFunction<'a>> = Vec::new();
    let script = |reference: &str| {
        let reference = FunctionRef::parse(reference).ok()?;
        Some((library.file(&reference.file)?.unit(), reference.function))
    };
    let named = |reference: &Option<Spanned<String>>| reference.as_ref().and_then(|reference| script(reference));
    let vars = vars::kind(pipeline, &pipeline.vars_json());
    let given = |first: (&'static str, Kind)| vec![first, ("vars", vars.clone())];
    let params = |node: Option<NodeIx>| ("params", kinds::params(pipeline, node, &vars, words));
    let state = kinds::state(words);
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
        let inputs = vec![("artifact", artifact), ("state", state.clone()), ("vars", vars.clone())];
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
        found.extend(responder.map(|(unit, name)| (FunctionUse::Responder(place), unit, name, given(params(Some(place))))));
        let inputs = vec![("artifact", artifact(pipeline, place)), params(Some(place))];
        if let Some(foreach) = &node.foreach {
            if let pipeline::ComputedValue::Function(reference) = &foreach.items {
                let function = script(reference);
                found.extend(function.map(|(unit, name)| (FunctionUse::Items(place), unit, name, given(params(Some(place))))));
            }
            if let pipeline::Merge::Function(reference) = &foreach.merge {
                let function = script(reference);
                found
                    .extend(function.map(|(unit, name)| (FunctionUse::Merge(place), unit, name, given(("branches", Kind::Any)))));
            }
        }
        if let Some(pipeline::ComputedValue::Function(reference)) = node.tool.as_ref().and_then(|tool| tool.arguments.as_ref()) {
            let function = script(reference);
            found.extend(function.map(|(unit, name)| (FunctionUse::Arguments(place), unit, name, given(params(Some(place))))));
        }
        let given_answer = given(("artifact", Kind::Any));
        found.extend(named(&node.accept).map(|(unit, name)| (FunctionUse::Accept(place), unit, name, given_answer)));
        found.extend(named(&node.effect).map(|(unit, name)| (FunctionUse::Effect(place), unit, name, inputs)));
    }
    let needs = pipeline.verdict.as_ref().map_or(&[][..], |verdict| &verdict.needs);
    let of_case = [("evidence", kinds::evidence(words)), ("context", kinds::context(needs, words)), ("vars", vars.clone())];
    for (at, rule) in pipeline.verdict.iter().flat_map(|verdict| &verdict.rules).enumerate() {
        found.extend(script(&rule.rule).map(|(unit, name)| (FunctionUse::VerdictRule(at), unit, name, of_case.to_vec())));
    }
    for (at, rule) in pipeline.roots.iter().enumerate() {
        found.extend(script(&rule.rule).map(|(unit, name)| (FunctionUse::RootRule(at), unit, name, of_case.to_vec())));
    }
    let strength = pipeline.verdict.as_ref().and_then(|verdict| named(&verdict.signatures));
    let inputs = [("found", kinds::signature_match(words))].into_iter().chain(of_case.clone()).collect();
    found.extend(strength.map(|(unit, name)| (FunctionUse::SignatureStrength, unit, name, inputs)));
    let by = pipeline.clusters.as_ref().and_then(|clusters| script(&clusters.by));
    found.extend(by.map(|(unit, name)| (FunctionUse::Cluster, unit, name, given(params(None)))));
    found.extend(named(&pipeline.report).map(|(unit, name)| (FunctionUse::Summary, unit, name, given(params(None)))));
    let result = named(&pipeline.result);
    found.extend(result.map(|(unit, name)| (FunctionUse::SubpipelineResult, unit, name, given(("walk", Kind::Any)))));
    let scheduler = pipeline.team.as_ref().and_then(|team| script(&super::team::select(&team.scheduler)));
    found.extend(scheduler.map(|(unit, name)| (FunctionUse::Scheduler, unit, name, vec![("ctx", kinds::scheduling(words))])));
    analyse(pipeline, found, library, words)
}

fn artifact(pipeline: &Pipeline, node: NodeIx) -> Kind {
    kinds::merged_kind(pipeline.at(node))
}

/// A referenced function before its analysis.
type NamedFunction<'a> = (FunctionUse, &'a Unit, String, Vec<(&'static str, Kind)>);

fn analyse<'a>(
    pipeline: &Pipeline,
    found: Vec<NamedFunction<'a>>,
    library: &'a Library,
    words: &ProjectWords<'_>,
) -> Vec<ExaminedFunction<'a>> {
    let modules = |path: &str| library.file(path).map(LinkedScript::unit);
    let mut analyses = Vec::new();
    {
        // One checker per text: preparing a script takes longer than checking one of its functions.
        let mut checkers: BTreeMap<&str, Checker<'_>> = BTreeMap::new();
        for (place, unit, name, inputs) in &found {
            let checker = checkers.entry(unit.name()).or_insert_with(|| Checker::new(unit, &modules).with_facts());
            let inputs: Vec<CheckedParameter<'_>> = inputs.iter().map(|(name, kind)| CheckedParameter { name, kind }).collect();
            let answer = match place {
                // What a stage leaves is read by its policy, not as an artifact of the node's schema.
                FunctionUse::Responder(node) if pipeline.at(*node).policy.is_none() => Some(artifact(pipeline, *node)),
                FunctionUse::Summary => Some(group_kind("finding", words)),
                _ => None,
            };
            let returned = match (place, &answer) {
                (FunctionUse::Edge(_), _) => ReturnedValue::Outcome,
                (FunctionUse::VerdictRule(_) | FunctionUse::SignatureStrength, _) => ReturnedValue::Strength,
                (FunctionUse::RootRule(_), _) => ReturnedValue::Root,
                (FunctionUse::Effect(_), _) => ReturnedValue::Effects,
                (_, Some(Kind::Object(shape))) => ReturnedValue::Document(shape),
                _ => ReturnedValue::Any,
            };
            analyses.push(checker.returning(name, &inputs, returned));
        }
    }
    let examined = |((place, unit, name, inputs), analysis)| ExaminedFunction { place, unit, name, inputs, analysis };
    found.into_iter().zip(analyses).map(examined).collect()
}
