//! Evaluating a recorded decision again with probes.

use super::explanation::{
    EdgeExplanation, EdgeKind, InputValue, RuleExplanation, StepExplanation, WalkFailure, WalkerExplanation,
};
use super::steps::{JournalStep, StepEnd};
use asterisk_base::model::Hash;
use asterisk_diag::Diagnostic;
use asterisk_pipeline::{EdgeCondition, EdgeIx, EdgeTarget, Pipeline, PipelineNode};
use asterisk_project::Project;
use asterisk_script::probe::{Outline, Recorder, RecordingScope, explanatory, text_of_view};
use asterisk_script::{LinkedScript, ScriptFunction};
use asterisk_walk::{ConsideredEdge, EdgeOutcome, EdgeRule, FALLBACK, RuleInputs, is_branch};
use std::collections::{BTreeMap, BTreeSet};

/// The observed evaluation of a rule.
pub(super) struct ObservedRule {
    pub(super) recorder: Recorder,
    pub(super) error: Option<Box<Diagnostic>>,
}

/// A decision evaluated again.
pub(super) struct Reevaluated {
    /// The observed evaluations, by edge.
    pub(super) observed: BTreeMap<EdgeIx, ObservedRule>,
    pub(super) considered: Vec<ConsideredEdge>,
}

/// Evaluates a decision, observing each rule.
pub(super) fn observe(inputs: &RuleInputs) -> Reevaluated {
    let mut observed = BTreeMap::new();
    let RuleInputs { plan, artifact, state, .. } = inputs;
    let decided = inputs.decide_with(&mut |edge, rule| {
        let mut recorder = Recorder::new(RecordingScope::Values);
        let result = recorder.watch(|| rule.function.decide(artifact, state, plan.vars()));
        observed.insert(edge, ObservedRule { recorder, error: result.as_ref().err().cloned() });
        result
    });
    let considered = match decided {
        Ok(decision) => decision.considered,
        Err((considered, _)) => considered,
    };
    Reevaluated { observed, considered }
}

/// The explanation of a step without a decision.
pub(super) fn explain_undecided(step: &JournalStep, node: Option<&PipelineNode>) -> StepExplanation {
    let mut explanation = StepExplanation {
        path: step.path.to_string(),
        node: step.node.to_string(),
        code: node.and_then(|node| node.code.as_ref()).map(|code| code.value.clone()),
        at: step.at,
        walker: step.walker.as_ref().map(|walked| WalkerExplanation {
            name: walked.name.to_string(),
            because: walked.because.as_ref().map(ToString::to_string),
        }),
        masks: step.masks.iter().map(ToString::to_string).collect(),
        by: step.by.as_ref().map(ToString::to_string),
        call: None,
        revision: step.revision,
        edge: None,
        to: None,
        because: None,
        context: serde_json::Map::new(),
        attempts: step.attempts.clone(),
        error: None,
        read: Vec::new(),
        edges: Vec::new(),
        differs: false,
    };
    match &step.end {
        StepEnd::To { to, edge, because, context } => {
            (explanation.to, explanation.edge) = (Some(to.to_string()), Some(edge.to_string()));
            (explanation.because, explanation.context) = (Some(because.to_string()), context.clone());
        }
        StepEnd::Failed { kind, message } => {
            explanation.error = Some(WalkFailure { kind: kind.clone(), message: message.clone() });
        }
        StepEnd::Over if is_branch(&step.path) => explanation.because = Some("the branch completes".into()),
        StepEnd::Over => explanation.because = Some("the node has no edges: the walk completes".into()),
        StepEnd::Open => {}
    }
    explanation
}

/// Explains a decision; the project must be linked with all probes. `changed` are the texts that have changed since, by their
/// paths with the area.
pub(super) fn explain_decision(
    step: &JournalStep,
    inputs: &RuleInputs,
    project: &Project,
    changed: &BTreeSet<String>,
) -> StepExplanation {
    let pipeline = &*inputs.plan.pipeline;
    let spec = pipeline.at(inputs.node);
    let reevaluated = observe(inputs);
    let evaluator = Reevaluator {
        step,
        inputs,
        project,
        changed,
        outline: Outline::new(project.library.probed()),
        reevaluated: &reevaluated,
    };
    let mut explanation = explain_undecided(step, Some(spec));
    let mut own: Vec<EdgeIx> = spec.edges.iter().chain(&spec.advisories).copied().collect();
    own.sort_unstable();
    explanation.edges = own.iter().chain(&pipeline.guards).map(|edge| evaluator.edge(*edge)).collect();
    explanation.edges.extend(spec.fallback.map(|to| evaluator.fallback(to)));
    explanation.read = evaluator.reads();
    explanation.differs = reevaluated.considered != step.considered;
    explanation
}

struct Reevaluator<'a> {
    step: &'a JournalStep,
    inputs: &'a RuleInputs,
    project: &'a Project,
    changed: &'a BTreeSet<String>,
    outline: Outline<'a>,
    reevaluated: &'a Reevaluated,
}

impl Reevaluator<'_> {
    fn considered(&self, edge: &str) -> Option<&ConsideredEdge> {
        self.step.considered.iter().find(|entry| entry.edge == edge)
    }

    fn edge(&self, ix: EdgeIx) -> EdgeExplanation {
        let pipeline = &*self.inputs.plan.pipeline;
        let edge = pipeline.edge_at(ix);
        let kind = match (edge.advisory, pipeline.guards.contains(&ix)) {
            (true, _) => EdgeKind::Advisory,
            (_, true) => EdgeKind::Guard,
            _ => EdgeKind::Edge,
        };
        let entry = self.considered(&edge.id);
        let outcome = entry.map_or(EdgeOutcome::NotReached, |entry| entry.outcome);
        let observed = self.reevaluated.observed.get(&ix);
        let mut explanation = EdgeExplanation {
            edge: edge.id.value.clone(),
            name: edge.name.clone(),
            kind,
            to: edge.to.map(|to| pipeline.target_name(to).to_owned()),
            outcome,
            because: entry.and_then(|entry| entry.because.as_ref()).map(ToString::to_string),
            why: self.why(&edge.id, kind, outcome),
            missed: Vec::new(),
            rule: self.inputs.plan.rule(ix).map(|rule| self.rule(ix, rule)),
            error: observed.and_then(|observed| observed.error.clone()),
            values: Vec::new(),
        };
        if let Some(evaluation) = observed.and_then(|observed| observed.recorder.evaluations().first()) {
            explanation.values = explanatory(self.outline.lines(evaluation));
            if outcome != EdgeOutcome::Error {
                explanation.values.extend(self.outline.unreached(evaluation));
            }
            if outcome == EdgeOutcome::False {
                explanation.missed = self.outline.misses(evaluation);
            }
        }
        explanation
    }

    fn fallback(&self, to: EdgeTarget) -> EdgeExplanation {
        let entry = self.considered(FALLBACK);
        let outcome = entry.map_or(EdgeOutcome::NotReached, |entry| entry.outcome);
        EdgeExplanation {
            edge: FALLBACK.into(),
            name: String::new(),
            kind: EdgeKind::Fallback,
            to: Some(self.inputs.plan.pipeline.target_name(to).to_owned()),
            outcome,
            because: entry.and_then(|entry| entry.because.as_ref()).map(ToString::to_string),
            why: self.why(FALLBACK, EdgeKind::Fallback, outcome),
            missed: Vec::new(),
            rule: None,
            error: None,
            values: Vec::new(),
        }
    }

    /// Why an edge was not evaluated, or did not decide although it fired.
    fn why(&self, edge: &str, kind: EdgeKind, outcome: EdgeOutcome) -> Option<String> {
        let pipeline = &*self.inputs.plan.pipeline;
        let guard = |name: &str| pipeline.edge(name).is_some_and(|ix| pipeline.guards.contains(&ix));
        let fired = |guards: bool| {
            let fired = self.step.considered.iter().filter(|entry| entry.outcome == EdgeOutcome::Fired);
            fired.map(|entry| &*entry.edge).find(|name| *name != FALLBACK && guard(name) == guards)
        };
        let failed = || {
            let last = self.step.considered.last().filter(|entry| entry.outcome == EdgeOutcome::Error);
            last.map(|entry| format!("{} failed", entry.edge))
        };
        match (outcome, kind) {
            (EdgeOutcome::Fired, EdgeKind::Edge) => fired(true).map(|guard| format!("overridden by the guard {guard}")),
            (EdgeOutcome::NotReached, EdgeKind::Edge | EdgeKind::Advisory) => {
                fired(false).filter(|name| *name != edge).map(|name| format!("{name} fired first")).or_else(failed)
            }
            (EdgeOutcome::NotReached, EdgeKind::Guard) => fired(true)
                .filter(|name| *name != edge)
                .map(|name| format!("{name} fired first"))
                .or_else(|| fired(false).map(|name| format!("{name} ends the walk")))
                .or_else(failed),
            (EdgeOutcome::NotReached, EdgeKind::Fallback) => {
                fired(true).or_else(|| fired(false)).map(|name| format!("{name} fired")).or_else(failed)
            }
            _ => None,
        }
    }

    fn rule(&self, ix: EdgeIx, rule: &EdgeRule) -> RuleExplanation {
        let pipeline = &*self.inputs.plan.pipeline;
        let place = rule.function.definition();
        let line = place.as_ref().map_or(0, |(source, span)| source.line_column(span.start).0);
        let (text, file, hash) = match (&pipeline.edge_at(ix).when, rule.function.file()) {
            (EdgeCondition::Condition(text), _) => {
                (one_line(text.text()), pipeline.source.name().to_owned(), pipeline.source.text())
            }
            (_, file) => {
                let file = file.unwrap_or_default();
                (rule.function.key(), file.to_owned(), file_of(self.project, file))
            }
        };
        RuleExplanation {
            text,
            line,
            doc: sentence(rule.function.doc()),
            text_hash: Hash::of(hash.as_bytes()),
            changed: is_changed(self.project, pipeline, Some(&rule.function), self.changed),
            file,
        }
    }

    /// The inputs that the evaluated rules may read, with their values.
    fn reads(&self) -> Vec<InputValue> {
        let mut found: Vec<InputValue> = Vec::new();
        for rule in self.reevaluated.observed.keys().filter_map(|edge| self.inputs.plan.rule(*edge)) {
            for read in rule.reads.iter() {
                let Some((path, value)) = self.inputs.input(read) else { continue };
                if !found.iter().any(|read| read.path == path) {
                    found.push(InputValue { path: path.to_owned(), value: text_of_view(&value) });
                }
            }
        }
        found
    }
}

/// The text of a script.
pub(super) fn file_of<'p>(project: &'p Project, script: &str) -> &'p str {
    project.library.file(script).map_or("", |file| file.source().text())
}

/// Whether the text of an edge's rule, or one that it imports, has changed since.
pub(super) fn is_changed(
    project: &Project,
    pipeline: &Pipeline,
    function: Option<&ScriptFunction>,
    changed: &BTreeSet<String>,
) -> bool {
    let Some(script) = function.and_then(ScriptFunction::file) else {
        return changed.contains(&format!("pipelines/{}", pipeline.source.name()));
    };
    let mut all: Vec<&str> = vec![script];
    let mut at = 0;
    while let Some(path) = all.get(at).copied() {
        for import in project.library.file(path).into_iter().flat_map(LinkedScript::imports) {
            if !all.contains(&import) {
                all.push(import);
            }
        }
        at += 1;
    }
    all.iter().any(|path| changed.contains(&format!("scripts/{path}")))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence of a documentation.
fn sentence(doc: &str) -> String {
    let first = one_line(doc.split("\n\n").next().unwrap_or_default());
    match first.find(". ") {
        Some(end) => first[..=end].to_owned(),
        None => first,
    }
}
