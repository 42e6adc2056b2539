//! The values of a case's decisions and verdict, by the places of the texts that they were computed at: for editors.

use super::params::VerdictInputs;
use super::recorded::Decisions;
use super::reevaluate;
use super::selection::{StepQuery, StepSelection, find};
use super::steps::JournalStep;
use asterisk_diag::{Source, Span};
use asterisk_project::Project;
use asterisk_script::probe::{Evaluation, Miss, ObservedValue, Outline, Probes, Recorder, RecordingScope};
use asterisk_session::{Session, SessionError};
use asterisk_walk::{EdgeOutcome, RuleInputs, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most values of a case that are kept.
const MOST: usize = 20_000;

/// The texts that decisions are evaluated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluatedTexts {
    /// The texts that the run recorded.
    Recorded,
    /// The current texts of the project.
    Current,
}

/// A value at a place of a text.
#[derive(Clone, Debug)]
pub struct PlacedValue {
    /// The text that was evaluated.
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
    /// The recorded outcome, where it is another one.
    pub recorded: Option<&'static str>,
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

/// Evaluates the decisions and the verdict of a case again, on the recorded inputs; nothing if no case was named and the run has several.
///
/// # Errors
/// If the store or the texts cannot be read, or there is no such case.
pub fn line_values(session: &Session, query: &StepQuery, texts: EvaluatedTexts) -> Result<Option<CaseValues>, SessionError> {
    let decisions = Decisions::open(session)?;
    let StepSelection::Case { run, case, steps } = find(&decisions, query)? else { return Ok(None) };
    let name = decisions.record().store().case(&run, &case)?.name;
    let current = match texts {
        EvaluatedTexts::Recorded => None,
        EvaluatedTexts::Current => Some(decisions.current_project(session, &run, Probes::All)?),
    };
    let mut found = CaseValues { run: run.clone(), case, name, ..CaseValues::default() };
    for step in &steps {
        let project = match &current {
            Some(project) => Arc::clone(project),
            None => decisions.project(&run, step, Probes::All)?,
        };
        let outline = Outline::new(project.library.probed());
        for made in decisions.decisions(&run, vec![step.clone()])? {
            let inputs = match &current {
                // The pipeline may no longer have the node.
                Some(project) => decisions.current_inputs(&run, &made, project)?,
                None => Some(made.rule_inputs(&project)?),
            };
            if let Some(inputs) = inputs {
                found.add_decision(&outline, &inputs, step);
            }
        }
    }
    found.add_verdict(&decisions, &steps, current.as_deref())?;
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

    /// Adds the edges of a decision.
    fn add_decision(&mut self, outline: &Outline<'_>, inputs: &RuleInputs, step: &JournalStep) {
        let reevaluated = reevaluate::observe(inputs);
        for entry in &reevaluated.considered {
            let before = step.considered.iter().find(|before| before.edge == entry.edge).map(|before| said(before.outcome));
            let outcome = said(entry.outcome);
            self.rules.insert(
                entry.edge.to_string(),
                DecidedRule {
                    outcome,
                    recorded: before.filter(|before| *before != outcome),
                    because: entry.because.as_ref().map(ToString::to_string),
                    strength: None,
                    missed: Vec::new(),
                },
            );
        }
        for (edge, observed) in &reevaluated.observed {
            let id = inputs.plan.pipeline.edge_at(*edge).id.value.clone();
            if let (Some(decided), Some(evaluation)) = (self.rules.get_mut(&id), observed.recorder.evaluations().first())
                && decided.outcome == "false"
            {
                decided.missed = outline.misses(evaluation);
            }
            observed.recorder.evaluations().iter().for_each(|one| self.add(outline, one, &id));
        }
    }

    /// Adds the rules of the verdict.
    fn add_verdict(
        &mut self,
        decisions: &Decisions,
        steps: &[JournalStep],
        current: Option<&Project>,
    ) -> Result<(), SessionError> {
        let Some((path, before)) = decisions.recorded_verdict(&self.run, &self.case)? else { return Ok(()) };
        let Some(step) = steps.iter().find(|step| *step.path == *path) else {
            self.verdict = Some(before);
            return Ok(());
        };
        let recorded;
        let project = match current {
            Some(project) => project,
            None => {
                recorded = decisions.project(&self.run, step, Probes::All)?;
                &recorded
            }
        };
        let VerdictInputs { case, params, needs } = decisions.verdict_inputs(&self.run, &self.case)?;
        let outline = Outline::new(project.library.probed());
        for rule in project.plan.verdict.iter().flat_map(|verdict| &verdict.rules) {
            let mut recorder = Recorder::new(RecordingScope::Values);
            let Some(said) = recorder.watch(|| params.ask_rule(&case, &project.plan, &needs, &rule.id)) else { continue };
            let evaluation = recorder.evaluations().last();
            if let Some(evaluation) = evaluation {
                self.add(&outline, evaluation, &rule.id);
            }
            let outcome = match &said {
                Ok(Some(_)) => MATCHED,
                Ok(None) => NOT_MATCHED,
                Err(_) => "error",
            };
            let matched = before.spoke.iter().any(|spoken| spoken.id == rule.id);
            let failed = before.failed.iter().any(|failed| failed.id == rule.id);
            let then = if matched { MATCHED } else { NOT_MATCHED };
            let missed = evaluation.filter(|_| outcome == NOT_MATCHED).map(|one| outline.misses(one)).unwrap_or_default();
            let decided = DecidedRule {
                outcome,
                recorded: Some(if failed { "error" } else { then }).filter(|then| *then != outcome),
                strength: said.as_ref().ok().and_then(|said| Some(said.as_ref()?.strength)),
                because: match said {
                    Ok(said) => said.and_then(|said| said.because),
                    Err(error) => Some(error.to_string()),
                },
                missed,
            };
            self.rules.insert(rule.id.to_string(), decided);
        }
        self.verdict = match current {
            Some(project) => params.verdict_by(&case, &project.plan, &needs),
            None => Some(before),
        };
        Ok(())
    }
}

/// The outcomes of rules of the verdict.
const MATCHED: &str = "matched";
const NOT_MATCHED: &str = "did not match";

fn said(outcome: EdgeOutcome) -> &'static str {
    match outcome {
        EdgeOutcome::Fired | EdgeOutcome::Advisory => "fired",
        EdgeOutcome::False => "false",
        EdgeOutcome::Error => "error",
        EdgeOutcome::NotReached => "not reached",
    }
}

/// The text of a value.
fn text(value: &ObservedValue) -> String {
    asterisk_script::probe::clipped(&value.to_string(), 80)
}
