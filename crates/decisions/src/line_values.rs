//! The values of a case's decisions and verdict, by the places of the texts that they were computed at: for editors.

use super::params::VerdictInputs;
use super::recorded::Decisions;
use super::reevaluate;
use super::selection::{StepQuery, StepSelection, find};
use asterisk_diag::{Source, Span};
use asterisk_script::probe::{Evaluation, Miss, ObservedValue, Outline, Probes, Recorder, RecordingScope};
use asterisk_session::{Session, SessionError};
use asterisk_walk::{EdgeOutcome, Verdict};
use std::collections::BTreeMap;

/// The most values of a case that are kept.
const MOST: usize = 20_000;

/// A value at a place of a text.
#[derive(Clone, Debug)]
pub struct PlacedValue {
    /// The text as the run recorded it.
    pub source: Source,
    pub span: Span,
    /// Its text, truncated.
    pub value: String,
    /// What was evaluated: the id of the edge or rule.
    pub of: String,
}

/// The outcome of an edge, or of a rule of the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedRule {
    /// `fired`, `false`, `error`, or `not reached`; of a rule of the verdict, `matched` or `did not match`.
    pub outcome: &'static str,
    /// Its reason, if it has one.
    pub because: Option<String>,
    /// Its strength, if it is a rule of the verdict that matched.
    pub strength: Option<f64>,
    /// The comparisons that made it not fire, or not match.
    pub missed: Vec<Miss>,
}

/// The values of a case.
#[derive(Clone, Debug, Default)]
pub struct CaseValues {
    pub run: String,
    pub case: String,
    /// The case's name.
    pub name: String,
    /// In the order of evaluation.
    pub values: Vec<PlacedValue>,
    /// By the id of the edge or rule; the last visit of a node counts.
    pub rules: BTreeMap<String, DecidedRule>,
    /// The verdict, if one was recorded.
    pub verdict: Option<Verdict>,
}

/// Evaluates the decisions and the verdict of a case again, on the recorded texts and inputs; nothing if no case was named and the run has several.
///
/// # Errors
/// If the store or the recorded texts cannot be read, or there is no such case.
pub fn line_values(session: &Session, query: &StepQuery) -> Result<Option<CaseValues>, SessionError> {
    let decisions = Decisions::open(session)?;
    let StepSelection::Case { run, case, steps } = find(&decisions, query)? else { return Ok(None) };
    let name = decisions.record().store().case(&run, &case)?.name;
    let mut found = CaseValues { run: run.clone(), case: case.clone(), name, ..CaseValues::default() };
    for step in &steps {
        let project = decisions.project(&run, step, Probes::All)?;
        let outline = Outline::new(project.library.probed());
        for decision in decisions.decisions(&run, vec![step.clone()])? {
            let inputs = decision.rule_inputs(&project)?;
            let reevaluated = reevaluate::observe(&inputs);
            for entry in &reevaluated.considered {
                let outcome = match entry.outcome {
                    EdgeOutcome::Fired | EdgeOutcome::Advisory => "fired",
                    EdgeOutcome::False => "false",
                    EdgeOutcome::Error => "error",
                    EdgeOutcome::NotReached => "not reached",
                };
                let because = entry.because.as_ref().map(ToString::to_string);
                found.rules.insert(entry.edge.to_string(), DecidedRule { outcome, because, strength: None, missed: Vec::new() });
            }
            for (edge, observed) in &reevaluated.observed {
                let id = inputs.plan.pipeline.edge_at(*edge).id.value.clone();
                if let (Some(decided), Some(evaluation)) = (found.rules.get_mut(&id), observed.recorder.evaluations().first())
                    && decided.outcome == "false"
                {
                    decided.missed = outline.misses(evaluation);
                }
                observed.recorder.evaluations().iter().for_each(|one| found.add(&outline, one, &id));
            }
        }
    }
    found.add_verdict(&decisions, &steps)?;
    Ok(Some(found))
}

impl CaseValues {
    fn add(&mut self, outline: &Outline<'_>, evaluation: &Evaluation, of: &str) {
        evaluation.walk(&mut |part| {
            let Some(value) = part.value.as_ref().map(text) else { return };
            let place = outline.find(part).and_then(|(unit, node)| node.place(unit));
            if let Some((source, span)) = place.filter(|_| self.values.len() < MOST) {
                self.values.push(PlacedValue { source, span, value, of: of.to_owned() });
            }
        });
    }

    /// Adds the rules of the verdict.
    fn add_verdict(&mut self, decisions: &Decisions, steps: &[super::steps::JournalStep]) -> Result<(), SessionError> {
        let Some((path, made)) = decisions.recorded_verdict(&self.run, &self.case)? else { return Ok(()) };
        self.verdict = Some(made);
        let Some(step) = steps.iter().find(|step| *step.path == *path) else { return Ok(()) };
        let project = decisions.project(&self.run, step, Probes::All)?;
        let Some(verdict) = &project.plan.verdict else { return Ok(()) };
        let outline = Outline::new(project.library.probed());
        let VerdictInputs { case, params, needs } = decisions.verdict_inputs(&self.run, &self.case)?;
        for rule in &verdict.rules {
            let mut recorder = Recorder::new(RecordingScope::Values);
            let said = recorder.watch(|| params.ask_rule(&case, &project.plan, &needs, &rule.id));
            let evaluation = recorder.evaluations().last();
            if let Some(evaluation) = evaluation {
                self.add(&outline, evaluation, &rule.id);
            }
            let missed = evaluation.map(|one| outline.misses(one)).unwrap_or_default();
            let decided = match said {
                Some(Ok(Some(said))) => DecidedRule {
                    outcome: "matched",
                    because: said.because.as_ref().map(ToString::to_string),
                    strength: Some(said.strength),
                    missed: Vec::new(),
                },
                Some(Ok(None)) => DecidedRule { outcome: "did not match", because: None, strength: None, missed },
                Some(Err(error)) => {
                    DecidedRule { outcome: "error", because: Some(error.to_string()), strength: None, missed: Vec::new() }
                }
                None => continue,
            };
            self.rules.insert(rule.id.to_string(), decided);
        }
        Ok(())
    }
}

/// The text of a value.
fn text(value: &ObservedValue) -> String {
    asterisk_script::probe::clipped(&value.to_string(), 80)
}
