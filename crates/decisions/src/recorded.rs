//! Reading the decisions of past runs with their inputs.

use super::replay::recorded_verdicts;
use super::steps::{JournalStep, StepAssembler, damaged};
use asterisk_base::model::Hash;
use asterisk_project::{AnswererNames, LinkSettings, Project};
use asterisk_script::probe::Probes;
use asterisk_session::{Record, RecordedTexts, Session, SessionError};
use asterisk_walk::{Name, Plan, RuleInputs, Verdict};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// How many decisions' contents are read at a time.
const BATCH: usize = 256;

/// The decisions of the runs of a store.
pub struct Decisions {
    record: Record,
    /// The projects linked so far. Few, so a list.
    linked: Mutex<Vec<LinkedProject>>,
}

/// A project with the address of its manifest, and its probes.
type LinkedProject = ((Hash, Probes), Arc<Project>);

/// A decision of a past run: a step with its inputs.
#[derive(Clone, Debug)]
pub struct RecordedDecision {
    /// The step: case, path, node, outcomes of its edges, result.
    pub step: JournalStep,
    /// The artifact, as canonical JSON.
    pub artifact: Arc<str>,
    /// The state, as canonical JSON.
    pub state: Arc<str>,
    /// The vars, as canonical JSON.
    pub vars: Arc<str>,
}

impl Decisions {
    /// Opens the decisions of a session's store. Fails if there is none.
    pub fn open(session: &Session) -> Result<Self, SessionError> {
        Ok(Self { record: session.record()?, linked: Mutex::default() })
    }

    /// The record they are read from: runs and their texts.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Visits every decision of a run in order, until `visit` breaks. Holds at most some hundred in memory.
    pub fn each(&self, run: &str, mut visit: impl FnMut(RecordedDecision) -> ControlFlow<()>) -> Result<(), SessionError> {
        let mut steps = StepAssembler::new(self.began(run)?);
        let mut batch: Vec<JournalStep> = Vec::with_capacity(BATCH);
        let mut failed = None;
        let mut stopped = false;
        self.record.store().each_event(run, |_, event| {
            batch.extend(steps.take(event).filter(|step| step.inputs.is_some()));
            if batch.len() < BATCH {
                return ControlFlow::Continue(());
            }
            match self.decisions(run, std::mem::take(&mut batch)) {
                Ok(decisions) => {
                    stopped = decisions.into_iter().try_for_each(&mut visit).is_break();
                }
                Err(error) => failed = Some(error),
            }
            if stopped || failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if !stopped {
            batch.extend(steps.end().filter(|step| step.inputs.is_some()));
            let _stopped = self.decisions(run, batch)?.into_iter().try_for_each(visit);
        }
        Ok(())
    }

    /// The steps of a case of a run, in order, including those without a decision. `None` if the run does not have this case.
    pub fn steps(&self, run: &str, case: &str) -> Result<Vec<JournalStep>, SessionError> {
        let mut steps = StepAssembler::new(self.began(run)?);
        let events = self.record.store().events(run, case)?;
        let mut found: Vec<JournalStep> = events.into_iter().filter_map(|(_, event)| steps.take(event)).collect();
        found.extend(steps.end());
        Ok(found)
    }

    /// The decisions of these steps of a run, in their order, skipping steps without one.
    pub fn decisions(&self, run: &str, steps: Vec<JournalStep>) -> Result<Vec<RecordedDecision>, SessionError> {
        let wanted: BTreeSet<Hash> = steps.iter().filter_map(|step| step.inputs).flatten().collect();
        let texts = self.record.store().blobs(wanted)?;
        let decision = |step: JournalStep| {
            let [artifact, state, vars] = step.inputs?;
            let text = |hash: &Hash| {
                let missing = || damaged(format!("the content {hash} of step {} of {run} is missing", step.path));
                texts.get(hash).cloned().ok_or_else(missing)
            };
            let (artifact, state, vars) = (text(&artifact), text(&state), text(&vars));
            Some((|| Ok(RecordedDecision { artifact: artifact?, state: state?, vars: vars?, step }))())
        };
        steps.into_iter().filter_map(decision).collect()
    }

    /// The last verdict of each case of a run, as recorded, in the order of the cases' ids.
    pub fn verdicts(&self, run: &str) -> Result<Vec<(Name, Verdict)>, SessionError> {
        recorded_verdicts(&self.record, run)
    }

    /// The revisions of a run's texts, in order.
    pub fn texts(&self, run: &str) -> Result<Vec<RecordedTexts>, SessionError> {
        self.record.texts(run)
    }

    /// The project that a step of a run used, linked once from the recorded texts.
    pub fn project(&self, run: &str, step: &JournalStep, probes: Probes) -> Result<Arc<Project>, SessionError> {
        let key = (step.manifest, probes);
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, project)) = linked.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(project));
        }
        let texts = self.record.texts(run)?;
        let found = texts.iter().find(|texts| texts.address == step.manifest);
        let found = found.ok_or_else(|| damaged(format!("the texts {} of {run} are missing", step.manifest)))?;
        let project = Arc::new(self.record.project(&found.manifest, probes)?);
        linked.push((key, Arc::clone(&project)));
        Ok(project)
    }

    /// The project of a session as it is now, for the pipeline of a run.
    pub fn current_project(&self, session: &Session, run: &str, probes: Probes) -> Result<Arc<Project>, SessionError> {
        let pipeline = self.record.store().run(run)?.pipeline;
        let project = session.whole_project(Some(&pipeline), AnswererNames::Others)?;
        let settings = LinkSettings { probes, ..project.settings.clone() };
        Ok(Arc::new(Project::link(project.sources, settings)?))
    }

    /// The inputs for evaluating a decision of a run with the project as it is now: the vars that were set for the run stay set, changed
    /// defaults take effect. `None` if the pipeline no longer has the node.
    pub fn current_inputs(
        &self,
        run: &str,
        made: &RecordedDecision,
        project: &Project,
    ) -> Result<Option<RuleInputs>, SessionError> {
        let Some(plan) = project.plan.of_path(&made.step.path) else { return Ok(None) };
        let recorded = self.project(run, &made.step, Probes::None)?;
        let defaults = recorded.plan.of_path(&made.step.path).map(|plan| plan.pipeline.vars_json()).unwrap_or_default();
        let mut vars: Map<String, Value> = read(&made.vars)?;
        vars.retain(|name, value| plan.pipeline.vars.contains_key(name.as_str()) && defaults.get(name) != Some(value));
        match project.plan_of(&made.step.path, &vars)? {
            Some(plan) => made.by(&plan),
            None => Ok(None),
        }
    }

    fn began(&self, run: &str) -> Result<Hash, SessionError> {
        Ok(self.record.store().run(run)?.manifest)
    }
}

impl RecordedDecision {
    /// The inputs for evaluating the decision again with a project's plan and the recorded vars. Fails if the plan lacks the node
    /// or the vars.
    pub fn rule_inputs(&self, project: &Project) -> Result<RuleInputs, SessionError> {
        let missing = || damaged(format!("no node `{}` in the pipeline `{}`", self.step.node, *project.plan.pipeline.name));
        let plan = project.plan.of_path(&self.step.path).ok_or_else(missing)?;
        let same = self.step.inputs.is_some_and(|[_, _, vars]| vars == plan.vars_content.hash());
        let plan = if same { Some(plan) } else { project.plan_of(&self.step.path, &read(&self.vars)?)? };
        self.by(&plan.ok_or_else(missing)?)?.ok_or_else(missing)
    }

    /// The inputs for evaluating the decision with another plan and its vars; `None` if that plan lacks the node.
    pub fn by(&self, plan: &Arc<Plan>) -> Result<Option<RuleInputs>, SessionError> {
        let Some(node) = plan.pipeline.node(&self.step.node) else { return Ok(None) };
        Ok(Some(RuleInputs::recorded(Arc::clone(plan), node, &read(&self.artifact)?, &read(&self.state)?)))
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SessionError> {
    serde_json::from_str(text).map_err(|error| damaged(format!("recorded content is not valid JSON: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::StepEnd;
    use super::super::testing::TraceFixture;
    use super::*;
    use asterisk_walk::EdgeOutcome;

    fn all(decisions: &Decisions, run: &str) -> Vec<RecordedDecision> {
        let mut found = Vec::new();
        decisions
            .each(run, |decision| {
                found.push(decision);
                ControlFlow::Continue(())
            })
            .unwrap();
        found
    }

    #[test]
    fn recorded_decisions_are_reproduced() {
        let ground = TraceFixture::with(&[]);
        let run = ground.run_example();
        let decisions = Decisions::open(&ground.session).unwrap();
        let made = all(&decisions, &run.run);
        assert!(made.len() > 50, "{}", made.len());
        for probes in [Probes::None, Probes::All] {
            for decision in &made {
                let project = decisions.project(&run.run, &decision.step, probes).unwrap();
                let rule_inputs = decision.rule_inputs(&project).unwrap();
                assert_eq!(rule_inputs.artifact.canonical(), *decision.artifact);
                assert_eq!(rule_inputs.state.canonical(), *decision.state);
                assert_eq!(rule_inputs.plan.vars().canonical(), *decision.vars);
                let decided = rule_inputs.decide().unwrap();
                assert_eq!(decided.considered, decision.step.considered);
                let StepEnd::To { edge, because, context, .. } = &decision.step.end else { panic!("{decision:?}") };
                let choice = decided.choice.unwrap();
                assert_eq!((&choice.name, &choice.because, &choice.context), (edge, because, context));
            }
        }
    }

    #[test]
    fn all_steps_of_a_case_and_all_decisions_of_a_run_are_read() {
        let ground = TraceFixture::with(&[(
            "pipelines/p.yaml",
            "pipeline: p\nnodes:\n  - { name: a }\n  - { name: b }\n  - { name: c }\nedges:\n\
             \x20 - { id: E1, from: a, to: b, condition: \"n > 1\" }\n\
             \x20 - { id: E2, from: a, to: b }\n\
             \x20 - { id: E3, from: b, to: c, condition: \"zz > 1\" }\nstart: a\ndone: _done\n",
        )]);
        let good = ground.run_stub("p", r#"{"*": {"a": [{"n": 1}], "b": [{"zz": 2}], "c": [{}]}}"#);
        let bad = ground.run_stub("p", r#"{"*": {"a": [{"n": 1}], "b": [{"z": 2}], "c": [{}]}}"#);
        let decisions = Decisions::open(&ground.session).unwrap();
        let outline = |run: &str| {
            let line = |step: JournalStep| {
                let outcomes: Vec<EdgeOutcome> = step.considered.iter().map(|entry| entry.outcome).collect();
                let end = match step.end {
                    StepEnd::To { to, edge, .. } => format!("{edge} to {to}"),
                    StepEnd::Failed { kind, .. } => kind,
                    other => format!("{other:?}"),
                };
                format!("{} {} {outcomes:?} {end}", step.path, step.node)
            };
            decisions.steps(run, "case-1").unwrap().into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(outline(&good.run), ["1 a [False, Fired] E2 to b", "2 b [Fired] E3 to c", "3 c [] Over"]);
        assert_eq!(outline(&bad.run), ["1 a [False, Fired] E2 to b", "2 b [Error] rule_error"]);
        assert_eq!((all(&decisions, &good.run).len(), all(&decisions, &bad.run).len()), (2, 2));
        let last = all(&decisions, &bad.run).pop().unwrap();
        let project = decisions.project(&bad.run, &last.step, Probes::All).unwrap();
        let (considered, failure) = last.rule_inputs(&project).unwrap().decide().unwrap_err();
        let StepEnd::Failed { message, .. } = &last.step.end else { panic!("{last:?}") };
        assert_eq!((&considered, &failure.diagnostic.message), (&last.step.considered, message));
        assert_eq!(decisions.record().runs(&[]).unwrap(), [bad.run.clone(), good.run]);
        assert_eq!(decisions.record().runs(&["latest".into()]).unwrap(), [bad.run]);
        assert!(decisions.record().runs(&["none".into()]).is_err());
    }
}
