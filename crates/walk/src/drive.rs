//! The driver: walks from node to node by the first edge that fires, one commit per step.

use super::branches::collected;
use super::error::{Failure, FailureKind};
use super::event::{Event, EventBody};
use super::journal::{Commit, JournalError};
use super::loop_detector;
use super::name::Name;
use super::params::CaseParams;
use super::plan::Plan;
use super::ready_set::{FailureCollectors, ReadySet, ReadyStep};
use super::revisions::Revision;
use super::state::{WalkState, WalkStatus};
use super::step::StepResult;
use super::step_spans::StepSpans;
use super::thermal;
use super::walker::{WalkOwner, Walker};
use asterisk_base::model::Case;
use asterisk_base::subscriber;
use asterisk_diag::counted;
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_pipeline::NodeIx;
use asterisk_script::probe::frame;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// How a walk ended, unless the journal failed.
#[derive(Debug)]
pub enum WalkEnd {
    Done,
    /// Reached a phase that it may not enter yet.
    Waiting,
    /// Was stopped, or waits for an external answer (`WalkState::waits`); it can be resumed.
    Paused,
    Failed(Failure),
}

impl Walker<'_> {
    /// Walks a case on from `state` until the end, a failure, the end of the phase, or a stop signal. Does nothing if the state
    /// is over.
    pub fn walk(&self, case: &Case, state: &mut WalkState) -> Result<WalkEnd, JournalError> {
        self.walk_with(case, state, &OnceLock::new())
    }

    /// [`Walker::walk`] with the parameters of the case, which are made if there are none yet.
    pub fn walk_with(&self, case: &Case, state: &mut WalkState, params: &OnceLock<CaseParams>) -> Result<WalkEnd, JournalError> {
        let case_name: Name = case.id.as_str().into();
        let mut held: Option<Arc<Revision>> = None;
        let mut spans = StepSpans::default();
        loop {
            match state.status {
                WalkStatus::Done => return Ok(WalkEnd::Done),
                WalkStatus::Error => return Ok(WalkEnd::Failed(recorded(state))),
                WalkStatus::Running | WalkStatus::Paused => {}
            }
            if self.stop.load(Ordering::Relaxed) {
                state.status = WalkStatus::Paused;
                return Ok(WalkEnd::Paused);
            }
            if let Some(plans) = self.plans
                && held.as_ref().is_none_or(|held| !plans.is_current(held.number))
            {
                held = Some(plans.current()?);
            }
            let walker = Walker { plan: held.as_ref().map_or(self.plan, |held| &held.plan), ..*self };
            let who = WalkOwner { case, name: &case_name, params };
            let mut ready_set = ReadySet::default();
            match thermal::stop(walker.plan, state) {
                Some(failure) => ready_set.push(ReadyStep::failed(walker.stopped(&case_name, state, failure))),
                None => walker.ready(&who, state, FailureCollectors::default(), &mut ready_set),
            }
            if ready_set.len() == 0 {
                state.status = WalkStatus::Running;
                return Ok(WalkEnd::Waiting);
            }
            if subscriber::may_exist() {
                ready_set.trace(&mut spans);
            }
            let mut committed: Vec<Event> = Vec::new();
            let mut spent_ms = state.spent_ms;
            let (mut waiting, mut upgraded) = (0, false);
            let failed = ready_set.each(self.stop, |job, mut taken| {
                spent_ms += taken.left.recorded.iter().map(took_ms).sum::<u64>();
                if !taken.left.recorded.is_empty() {
                    committed.append(&mut taken.left.recorded);
                }
                if let Some(error) = taken.left.broken {
                    return Err(error);
                }
                if taken.left.waits {
                    waiting += 1;
                    return Ok(None);
                }
                if let Some(branch) = taken.failure.as_ref().and_then(|failure| job.collects.of(failure)) {
                    collected(&mut taken, branch);
                }
                thermal::warn(walker.plan, spent_ms, &mut taken.events);
                let first = !std::mem::replace(&mut upgraded, true);
                let upgrade = |taken: &mut StepResult, state: &WalkState| {
                    let Some(event) = taken.events.first().filter(|_| first) else { return };
                    let upgrade_event =
                        held.as_ref().and_then(|held| held.upgrade_event(state, &case_name, event.path.clone(), event.at));
                    taken.events.splice(..0, upgrade_event);
                };
                upgrade(&mut taken, state);
                let mut events = taken.events;
                let failure = match walker.commit(&events, taken.effects) {
                    Err(JournalError::Refused(why)) => {
                        let mut lost = walker.refused(&events, state, &why);
                        if let Some(branch) = lost.failure.as_ref().and_then(|failure| job.collects.of(failure)) {
                            collected(&mut lost, branch);
                        }
                        upgrade(&mut lost, state);
                        walker.commit(&lost.events, lost.effects)?;
                        events = lost.events;
                        lost.failure
                    }
                    done => done.map(|()| taken.failure)?,
                };
                spent_ms += events.iter().map(took_ms).sum::<u64>();
                // The commit of a single step needs no copy.
                if committed.is_empty() {
                    committed = events;
                } else {
                    committed.extend(events);
                }
                Ok(failure)
            });
            let all_wait = waiting == ready_set.len();
            for event in &committed {
                state.apply(event);
                spans.close(event);
            }
            if let Some(failure) = failed? {
                return Ok(WalkEnd::Failed(failure));
            }
            if all_wait {
                state.status = WalkStatus::Paused;
                return Ok(WalkEnd::Paused);
            }
        }
    }

    /// Turns a commit refused by the journal into a failure of the case.
    fn refused(&self, events: &[Event], state: &WalkState, why: &str) -> StepResult {
        let message = format!("the store refused the effects of the step: {why}");
        let help = "fix the effect script of this node, or its inputs";
        let failure = Failure::new(FailureKind::RuleError, Diagnostic::error("rule/effect", message).help(help));
        let left = events.iter().find_map(|event| match &event.what {
            EventBody::NodeExit { node, .. } => Some((&event.case, &event.path, node)),
            _ => None,
        });
        let (case, path, node) = match (left, events.first()) {
            (Some((case, path, node)), _) => (case.clone(), path.clone(), node.clone()),
            (None, Some(event)) => (event.case.clone(), event.path.clone(), state.node.clone().unwrap_or_default()),
            (None, None) => Default::default(),
        };
        self.failed(case, path, node, failure)
    }

    pub(super) fn stopped(&self, case: &Name, state: &WalkState, failure: Failure) -> StepResult {
        let state = state.ongoing();
        let path = state.next_path();
        let start = || {
            let plan = self.plan.through(&path).and_then(|plans| plans.last().copied()).unwrap_or(self.plan);
            plan.node(plan.pipeline.start).name.clone()
        };
        let node = state.node.clone().unwrap_or_else(start);
        self.failed(case.clone(), path, node, failure)
    }

    fn failed(&self, case: Name, path: Name, node: Name, failure: Failure) -> StepResult {
        let what = EventBody::WalkError { node, kind: failure.kind.word().into(), message: failure.diagnostic.message.clone() };
        let event = Event { case, path, at: self.clock.now(), what };
        StepResult { events: vec![event], failure: Some(failure), ..StepResult::default() }
    }

    /// Commits the events of a step, then notifies the watcher.
    fn commit(&self, events: &[Event], effects: Vec<asterisk_base::model::Effect<i64>>) -> Result<(), JournalError> {
        if self.journal.keeps() {
            frame("commit", "", || self.journal.commit(Commit { effects, ..Commit::of(events.to_vec()) }))?;
        }
        for event in events {
            if let Some(watch) = self.watch {
                watch(event);
            }
            if let Some(agent) = event.what.agent() {
                self.answer.recorded(&event.case, agent);
            }
        }
        Ok(())
    }
}

impl Plan {
    /// The node to continue at; fails at the step cap and for unknown nodes.
    pub fn next(&self, state: &WalkState) -> Result<NodeIx, Failure> {
        let pipeline = &self.pipeline;
        let Some(name) = &state.node else { return Ok(pipeline.start) };
        let Some(node) = pipeline.node(name) else {
            let known = pipeline.nodes.iter().map(|node| node.name.as_str());
            let message = format!("the walk is at `{name}`, which the pipeline `{}` does not have", *pipeline.name);
            let diagnostic = Diagnostic::error("walk/node-not-found", message).maybe_help(did_you_mean(name, known));
            return Err(Failure::new(FailureKind::NodeNotFound, diagnostic));
        };
        match pipeline.max_steps {
            Some(cap) if state.steps >= cap => {
                let message = format!("the walk took {}, the limit of `{}`", counted(cap, "step", "steps"), *pipeline.name);
                let diagnostic = Diagnostic::error("walk/max-steps", message)
                    .label(&pipeline.source, pipeline.nodes[node.0].name.span, "next step")
                    .help(format!("{}; raise `max_steps` if that is intended (0: no limit)", loop_detector::describe(state)));
                Err(Failure::new(FailureKind::MaxSteps, diagnostic))
            }
            _ => Ok(node),
        }
    }
}

/// The duration recorded in an event, in milliseconds.
fn took_ms(event: &Event) -> u64 {
    if let EventBody::NodeExit { took_ms, .. } = event.what { took_ms } else { 0 }
}

/// The failure recorded in a state, for a failed walk that is resumed.
fn recorded(state: &WalkState) -> Failure {
    let (kind, message) = state.error.clone().unwrap_or_default();
    let kind = serde_json::from_value(serde_json::Value::String(kind)).unwrap_or(FailureKind::AgentError);
    Failure::new(kind, Diagnostic::error("walk/recorded", message))
}
