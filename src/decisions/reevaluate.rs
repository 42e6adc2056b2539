//! A recorded decision made again while it is watched.

use super::explanation::{
    EdgeExplanation, EdgeKind, InputValue, RuleExplanation, StepExplanation, WalkFailure, WalkerExplanation,
};
use super::steps::{JournalStep, StepEnd};
use crate::diag::Diagnostic;
use crate::model::Hash;
use crate::pipeline::{EdgeCondition, EdgeIx, EdgeTarget, Pipeline, PipelineNode};
use crate::project::Project;
use crate::script::probe::{Outline, Recorder, RecordingScope, telling, text_of_view};
use crate::script::{LinkedScript, ScriptFunction};
use crate::walk::{ConsideredEdge, EdgeOutcome, EdgeRule, FALLBACK, RuleInputs, is_branch};
use std::collections::{BTreeMap, BTreeSet};

/// What a rule said while it was watched.
pub(super) struct WatchedRule {
    pub(super) recorder: Recorder,
    pub(super) error: Option<Box<Diagnostic>>,
}

/// A decision made again.
pub(super) struct Reevaluated {
    /// By edge, what each that was asked said.
    pub(super) watched: BTreeMap<EdgeIx, WatchedRule>,
    /// Every edge considered.
    pub(super) considered: Vec<ConsideredEdge>,
}

/// Makes a decision again, watching each rule that is asked.
pub(super) fn watch(again: &RuleInputs) -> Reevaluated {
    let mut watched = BTreeMap::new();
    let RuleInputs { plan, artifact, state, .. } = again;
    let decided = again.decide_asking(&mut |edge, rule| {
        let mut recorder = Recorder::new(RecordingScope::Values);
        let verdict = recorder.watch(|| rule.function.decide(artifact, state, plan.vars()));
        watched.insert(edge, WatchedRule { recorder, error: verdict.as_ref().err().cloned() });
        verdict
    });
    let considered = match decided {
        Ok(decision) => decision.considered,
        Err((considered, _)) => considered,
    };
    Reevaluated { watched, considered }
}

/// A step that decided nothing, as it is told.
pub(super) fn undecided(step: &JournalStep, node: Option<&PipelineNode>) -> StepExplanation {
    let mut told = StepExplanation {
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
        generation: step.generation,
        edge: None,
        to: None,
        because: None,
        context: serde_json::Map::new(),
        error: None,
        read: Vec::new(),
        edges: Vec::new(),
        differs: false,
    };
    match &step.went {
        StepEnd::To { to, edge, because, context } => {
            (told.to, told.edge) = (Some(to.to_string()), Some(edge.to_string()));
            (told.because, told.context) = (Some(because.to_string()), context.clone());
        }
        StepEnd::Failed { kind, message } => told.error = Some(WalkFailure { kind: kind.clone(), message: message.clone() }),
        StepEnd::Over if is_branch(&step.path) => told.because = Some("the branch is over".into()),
        StepEnd::Over => told.because = Some("the node has no edge: the walk is over".into()),
        StepEnd::Open => {}
    }
    told
}

/// Tells a decision: the project must have been linked with all probes. `changed` are the texts that are other by now, by
/// their paths with the area.
pub(super) fn decided(step: &JournalStep, again: &RuleInputs, project: &Project, changed: &BTreeSet<String>) -> StepExplanation {
    let pipeline = &*again.plan.pipeline;
    let spec = pipeline.at(again.node);
    let retold = watch(again);
    let teller = Reevaluator { step, again, project, changed, outline: Outline::new(project.library.probed()), retold: &retold };
    let mut told = undecided(step, Some(spec));
    let mut own: Vec<EdgeIx> = spec.edges.iter().chain(&spec.advisories).copied().collect();
    own.sort_unstable();
    told.edges = own.iter().chain(&pipeline.guards).map(|edge| teller.edge(*edge)).collect();
    told.edges.extend(spec.fallback.map(|to| teller.fallback(to)));
    told.read = teller.reads();
    told.differs = retold.considered != step.considered;
    told
}

struct Reevaluator<'a> {
    step: &'a JournalStep,
    again: &'a RuleInputs,
    project: &'a Project,
    changed: &'a BTreeSet<String>,
    outline: Outline<'a>,
    retold: &'a Reevaluated,
}

impl Reevaluator<'_> {
    fn considered(&self, edge: &str) -> Option<&ConsideredEdge> {
        self.step.considered.iter().find(|entry| entry.edge == edge)
    }

    fn edge(&self, ix: EdgeIx) -> EdgeExplanation {
        let pipeline = &*self.again.plan.pipeline;
        let edge = pipeline.edge_at(ix);
        let kind = match (edge.advisory, pipeline.guards.contains(&ix)) {
            (true, _) => EdgeKind::Advisory,
            (_, true) => EdgeKind::Guard,
            _ => EdgeKind::Edge,
        };
        let entry = self.considered(&edge.id);
        let outcome = entry.map_or(EdgeOutcome::NotReached, |entry| entry.outcome);
        let watched = self.retold.watched.get(&ix);
        let mut told = EdgeExplanation {
            edge: edge.id.value.clone(),
            name: edge.name.clone(),
            kind,
            to: edge.to.map(|to| pipeline.target_name(to).to_owned()),
            outcome,
            because: entry.and_then(|entry| entry.because.as_ref()).map(ToString::to_string),
            why: self.why(&edge.id, kind, outcome),
            missed: Vec::new(),
            rule: self.again.plan.rule(ix).map(|rule| self.rule(ix, rule)),
            error: watched.and_then(|watched| watched.error.clone()),
            values: Vec::new(),
        };
        if let Some(evaluation) = watched.and_then(|watched| watched.recorder.evaluations().first()) {
            told.values = telling(self.outline.lines(evaluation));
            if outcome != EdgeOutcome::Error {
                told.values.extend(self.outline.unreached(evaluation));
            }
            if outcome == EdgeOutcome::False {
                told.missed = self.outline.misses(evaluation);
            }
        }
        told
    }

    fn fallback(&self, to: EdgeTarget) -> EdgeExplanation {
        let entry = self.considered(FALLBACK);
        let outcome = entry.map_or(EdgeOutcome::NotReached, |entry| entry.outcome);
        EdgeExplanation {
            edge: FALLBACK.into(),
            name: String::new(),
            kind: EdgeKind::Fallback,
            to: Some(self.again.plan.pipeline.target_name(to).to_owned()),
            outcome,
            because: entry.and_then(|entry| entry.because.as_ref()).map(ToString::to_string),
            why: self.why(FALLBACK, EdgeKind::Fallback, outcome),
            missed: Vec::new(),
            rule: None,
            error: None,
            values: Vec::new(),
        }
    }

    /// Why an edge was not asked, or fired in vain.
    fn why(&self, edge: &str, kind: EdgeKind, outcome: EdgeOutcome) -> Option<String> {
        let pipeline = &*self.again.plan.pipeline;
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
        let pipeline = &*self.again.plan.pipeline;
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

    /// The inputs that the rules which were asked may read, with their values.
    fn reads(&self) -> Vec<InputValue> {
        let mut found: Vec<InputValue> = Vec::new();
        for rule in self.retold.watched.keys().filter_map(|edge| self.again.plan.rule(*edge)) {
            for read in &rule.reads {
                let Some((path, value)) = self.again.input(read) else { continue };
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

/// Whether the text of what decides an edge, or one that it imports, is other by now.
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

/// The first paragraph of a documentation, up to the end of its first sentence.
fn sentence(doc: &str) -> String {
    let first = one_line(doc.split("\n\n").next().unwrap_or_default());
    match first.find(". ") {
        Some(end) => first[..=end].to_owned(),
        None => first,
    }
}
