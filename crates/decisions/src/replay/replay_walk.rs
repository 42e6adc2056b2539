//! Replaying a case with another plan on its recorded answers: decisions are evaluated again, without any request.

use super::answer_inputs::AnswerInputs;
use super::answer_maker::{AnswerAgain, AnswerMaker, ChangedFields, ReplayedStep};
use super::recorded_walk::{RecordedStep, RecordedWalk, enter, event};
use super::reuse_check::{KnowledgeMatch, ReuseCheck};
use crate::StepEnd;
use crate::steps::forked;
use asterisk_base::clock::chance;
use asterisk_base::model::Hash;
use asterisk_diag::Diagnostics;
use asterisk_pipeline::NodeIx;
use asterisk_script::View;
use asterisk_session::SessionError;
use asterisk_walk::{
    Content, DecisionStep, EventBody, Failure, Name, Plan, Query, StepContext, StepMoment, TeamMember, WalkState, WalkStatus,
    place_of,
};
use std::collections::BTreeMap;

/// The inputs of a replay.
#[derive(Clone, Copy)]
pub(super) struct ReplayWalk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) same: &'a AnswerInputs,
    /// The reusable decisions, valid while the walk follows its record.
    pub(super) reuse: Option<&'a ReuseCheck>,
    /// Makes scripted answers again; without it recorded answers are all there are.
    pub(super) answers: Option<AnswerMaker<'a>>,
    /// Seeds `state.chance`.
    pub(super) seed: u64,
    pub(super) case: &'a str,
    /// The walker of a plan without a team: in a sub-pipeline, that of the enclosing step.
    pub(super) inherited: Option<&'a TeamMember>,
    /// The results of the scheduler's queries, if recorded.
    pub(super) needs: &'a [(String, View)],
    /// Whether the record is a walk that had the same inputs, which is followed until an answer or a decision differs; else it is a
    /// list of answers only.
    pub(super) follow: bool,
}

/// Returns a recorded artifact in the shape of the schema of a plan's node.
pub(super) type ArtifactSource<'a> = dyn FnMut(&Hash, &Plan, NodeIx) -> Result<View, SessionError> + 'a;

/// A replayed decision.
#[derive(Clone, Debug)]
pub(super) struct ReplayedDecision {
    pub(super) node: Name,
    /// The step's path in the replayed walk.
    pub(super) path: Name,
    /// The index of the recorded step whose answer was used; `None` for a walk that failed before its answer.
    pub(super) place: Option<usize>,
    /// The recorded result of the same decision, if there is one.
    pub(super) before: Option<StepEnd>,
    pub(super) now: StepEnd,
    /// Artifact and state as the rules saw them, for a flipped decision.
    pub(super) seen: Option<(View, View)>,
}

/// The result of replaying a case.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplayOutcome {
    pub(super) decisions: Vec<ReplayedDecision>,
    /// The node that needs an answer which was not recorded.
    pub(super) unknown: Option<(Name, Name)>,
    /// The scripted answers that are others now.
    pub(super) answers: Vec<AnswerChanged>,
}

/// A scripted answer that is another now.
#[derive(Clone, Debug)]
pub(super) struct AnswerChanged {
    pub(super) node: Name,
    /// The step's path in the replayed walk.
    pub(super) path: Name,
    pub(super) fields: ChangedFields,
}

impl ReplayOutcome {
    /// The number of decisions that differ from those of another walk of the case at the same visit of the same node.
    pub(super) fn flips_from(&self, other: &Self) -> usize {
        let numbered = |walk: &Self| {
            let mut visits: BTreeMap<Name, usize> = BTreeMap::new();
            let number = |decision: &ReplayedDecision| {
                // A sub-pipeline's node is distinct from an outer one of the same name.
                let node: Name = compact_str::format_compact!("{}{}", place_of(&decision.path), decision.node);
                let visit = visits.entry(node.clone()).or_default();
                *visit += 1;
                ((node, *visit), decision.now.clone())
            };
            walk.decisions.iter().map(number).collect::<BTreeMap<_, _>>()
        };
        let others = numbered(other);
        numbered(self).iter().filter(|(key, now)| others.get(*key).is_some_and(|other| !same_way(other, now))).count()
    }
}

impl ReplayedDecision {
    /// Whether any decision flipped.
    pub(super) fn flipped(&self) -> bool {
        self.before.as_ref().is_some_and(|before| !same_way(before, &self.now))
    }
}

/// Whether both lead to the same node by the same edge, or fail with the same kind of error.
fn same_way(a: &StepEnd, b: &StepEnd) -> bool {
    match (a, b) {
        (StepEnd::To { to, edge, .. }, StepEnd::To { to: other, edge: by, .. }) => to == other && edge == by,
        (StepEnd::Failed { kind, .. }, StepEnd::Failed { kind: other, .. }) => kind == other,
        (a, b) => a == b,
    }
}

impl ReplayWalk<'_> {
    /// Replays a case. `artifact` returns a recorded artifact in the shape of a node's schema.
    pub(super) fn case(
        &self,
        recorded_walk: &RecordedWalk,
        artifact: &mut ArtifactSource<'_>,
    ) -> Result<ReplayOutcome, SessionError> {
        let mut done = ReplayOutcome::default();
        self.walk(
            recorded_walk,
            WalkState::default(),
            artifact,
            &mut done,
            &mut KnowledgeMatch { state_matches: true, reasons: true },
        )?;
        Ok(done)
    }

    /// Walks from a state to the end, or as far as answers are known. Returns the state, and the last artifact if the walk is
    /// over. `exact` states how far the state matches the recorded one.
    pub(super) fn walk(
        &self,
        recorded_walk: &RecordedWalk,
        mut state: WalkState,
        artifact: &mut ArtifactSource<'_>,
        done: &mut ReplayOutcome,
        exact: &mut KnowledgeMatch,
    ) -> Result<(WalkState, Option<Content>), SessionError> {
        let mut last: Option<Content> = None;
        // Dependent nodes (`after:`) make no decisions.
        if self.plan.pipeline.waves() && state.origin.is_none() {
            return Ok((state, last));
        }
        // The recorded step that the walk is at, as long as it follows its record.
        let mut on = self.follow.then_some(0);
        while !matches!(state.status, WalkStatus::Done | WalkStatus::Error) {
            if !state.inner.is_empty() {
                if !self.replay_parallel(on.is_some().then_some(recorded_walk), &mut state, artifact, (done, exact))? {
                    break;
                }
                continue;
            }
            let recorded = on.and_then(|place: usize| recorded_walk.steps.get(place));
            if on.is_some() && recorded.is_none() {
                break;
            }
            let path = state.next_path();
            let node = match self.plan.next(&state) {
                Ok(node) => node,
                Err(failure) => {
                    let node = state.node.clone().unwrap_or_default();
                    let before = recorded.map(|step| step.end.clone());
                    done.decisions.push(ReplayedDecision { node, path, place: None, before, now: failed(&failure), seen: None });
                    break;
                }
            };
            let name = &self.plan.node(node).name;
            if recorded.is_some_and(|step| step.node != *name) {
                on = None;
            }
            let at = recorded.map_or_else(|| recorded_walk.time(name, &state), |step| step.at);
            let drawn = chance(self.seed, self.case, &path);
            let member = match self.member(node, &state, StepMoment { now: at, chance: drawn }) {
                Ok(Some((member, switch))) => {
                    if let Some(what) = switch {
                        state.apply(&event(at, what));
                    }
                    member
                }
                Ok(None) => {
                    done.unknown = Some((name.clone(), path));
                    break;
                }
                Err(failure) => {
                    let before = recorded.filter(|_| on.is_some()).map(|step| step.end.clone());
                    done.decisions.push(ReplayedDecision {
                        node: name.clone(),
                        path,
                        place: None,
                        before,
                        now: failed(&failure),
                        seen: None,
                    });
                    break;
                }
            };
            let found = match recorded.filter(|_| on.is_some()) {
                Some(step) if step.answer.is_some() => on.map(|place| (place, step, true)),
                // The recorded walk failed there; this one continues.
                Some(RecordedStep { end: StepEnd::Failed { kind, .. }, .. })
                    if matches!(kind.as_str(), "max_steps" | "node_not_found") =>
                {
                    None
                }
                // Without an answer, the rules do not matter.
                Some(step) => {
                    if let StepEnd::Failed { kind, message } = &step.end {
                        (state.status, state.error) = (WalkStatus::Error, Some((kind.clone(), message.clone())));
                        state.path.push(step.node.clone());
                    }
                    break;
                }
                None => self.recorded_visit(recorded_walk, node, &state),
            };
            let found = found.and_then(|(place, step, same)| Some((place, step, step.answer.as_ref()?, same)));
            let Some((place, step, answer, same_inputs)) = found else {
                done.unknown = Some((name.clone(), path));
                break;
            };
            let mut content = Content::from(answer.artifact);
            let mut inner = None;
            if on.is_some() && !self.replay_items((recorded_walk, step, node), &state, member, artifact, done)? {
                break;
            }
            let subpipeline = self.plan.node(node).subpipeline.as_deref();
            if let Some(subpipeline) = subpipeline.filter(|inner| step.fork.is_none() && !inner.pipeline.waves()) {
                inner = recorded_walk.walked(step, &state).filter(|_| same_inputs);
                // With other inputs than the recorded ones, its steps are taken as visits, not as they follow each other.
                let follow = on.is_some();
                let within = recorded_walk.of_place(&format!("{}/{name}/", step.path)).filter(|_| follow || !same_inputs);
                if let (Some(within), Some(same)) = (within, self.same.subpipeline(node)) {
                    let reuse = self.reuse.and_then(|reuse| reuse.subpipeline(node)).filter(|_| follow);
                    let answers = self.answers.and_then(|maker| maker.subpipeline(node));
                    let again = ReplayWalk { plan: subpipeline, same, reuse, answers, inherited: Some(member), follow, ..*self };
                    let (ended, found) = again.walk(&within, state.within(name, &path), artifact, done, exact)?;
                    let found = match found {
                        // By `result:`, which also says what it means that a node was not answered.
                        last if subpipeline.result.is_some() && (last.is_some() || ended.status == WalkStatus::Error) => {
                            let made = ended.result(subpipeline);
                            let made = made.map_err(|failure| SessionError::Texts(Diagnostics::from(*failure.diagnostic)))?;
                            Some(Content::new(View::of(&made, &self.plan.node(node).kind, "artifact")))
                        }
                        last => last,
                    };
                    let Some(found) = found else {
                        state.status = ended.status;
                        break;
                    };
                    if found != content {
                        // Later steps have different inputs.
                        on = None;
                    }
                    content = found;
                    inner = Some(ended);
                } else if !same_inputs {
                    done.unknown = Some((name.clone(), path));
                    break;
                }
            } else {
                let moment = StepMoment { now: step.at, chance: drawn };
                let at = ReplayedStep { node, state: &state, path: &path, moment, member, same_inputs };
                match self.answer_again(recorded_walk, (step, answer), at)? {
                    AnswerAgain::Recorded => {}
                    AnswerAgain::Other(other) => {
                        let fields = self.changed_fields(&answer.artifact, &other)?;
                        done.answers.push(AnswerChanged { node: name.clone(), path: path.clone(), fields });
                        content = other;
                        on = None;
                    }
                    AnswerAgain::Unknown => {
                        done.unknown = Some((name.clone(), path));
                        break;
                    }
                    AnswerAgain::Failed(failure) => {
                        let (node, before) = (name.clone(), Some(step.end.clone()));
                        let now = failed(&failure);
                        done.decisions.push(ReplayedDecision { node, path, place: Some(place), before, now, seen: None });
                        state.status = WalkStatus::Error;
                        break;
                    }
                }
            }
            let holds = self.reuse.is_some_and(|reuse| reuse.holds(node, *exact));
            if on.is_some() && holds && step.fork.is_none() && step.end != StepEnd::Open {
                enter(&mut state, name, step.at, (content.clone(), answer.confidence), &answer.by, inner);
                step.go(&mut state);
                if state.node.as_ref() == Some(&self.plan.done) {
                    state.apply(&event(step.at, EventBody::WalkComplete { node: name.clone() }));
                }
                last = Some(content);
                on = on.map(|place| place + 1);
                let (node, end) = (name.clone(), step.end.clone());
                done.decisions.push(ReplayedDecision {
                    node,
                    path,
                    place: Some(place),
                    before: Some(end.clone()),
                    now: end,
                    seen: None,
                });
                continue;
            }
            let view = match content.view() {
                Some(made) => View::of(&made.json(), &self.plan.node(node).kind, "artifact"),
                None => artifact(&content.hash(), self.plan, node)?,
            };
            let moment = StepMoment { now: step.at, chance: drawn };
            let walk = &state;
            let here = StepContext { plan: self.plan, node, walk, path: &path, moment, member, handoffs: state.handoffs };
            let confidence = here.confidence(&view);
            let mut whats = Vec::with_capacity(3);
            let failure =
                DecisionStep { step: here, shadow: None }.take(&view, content.clone(), confidence, |what| whats.push(what)).err();
            enter(&mut state, name, step.at, (content.clone(), confidence), &answer.by, inner);
            last = Some(content);
            let now = failure.as_ref().map_or_else(|| step_end(&whats), failed);
            let (node, before) = (name.clone(), Some(step.end.clone()).filter(|end| *end != StepEnd::Open));
            let mut redecided = ReplayedDecision { node, path, place: Some(place), before, now, seen: None };
            if redecided.flipped() {
                on = None;
                let saw = |what: &EventBody| {
                    if let EventBody::EdgeEvaluate { state, .. } = what { state.view().cloned() } else { None }
                };
                redecided.seen = whats.iter().find_map(saw).map(|state| (view, state));
            }
            let left = KnowledgeMatch::compare(&whats, step);
            exact.state_matches &= confidence == answer.confidence && left.state_matches;
            exact.reasons &= left.reasons;
            on = on.map(|place| place + 1);
            for what in whats {
                state.apply(&event(step.at, what));
            }
            if failure.is_some() {
                state.status = WalkStatus::Error;
            }
            done.decisions.push(redecided);
        }
        let last = last.filter(|_| state.status == WalkStatus::Done);
        Ok((state, last))
    }

    /// The walker of the step, with the event of a change. `None` if the choice depends on query results that were not recorded.
    fn member(
        &self,
        node: NodeIx,
        state: &WalkState,
        moment: StepMoment,
    ) -> Result<Option<(&TeamMember, Option<EventBody>)>, Failure> {
        let Some(team) = &self.plan.team else { return Ok(Some((self.plan.member(None, self.inherited), None))) };
        let known = |need: &Query| self.needs.iter().any(|(name, _)| *name == need.field());
        if !team.needs.iter().all(|need| known(need)) {
            return Ok(None);
        }
        team.choose(self.plan, node, state, moment, self.needs).map(Some)
    }

    /// The recorded step of the same visit of the node, and whether its answerer had the same inputs. `None` if its answer can
    /// neither be reused nor made again.
    fn recorded_visit<'t>(
        &self,
        recorded_walk: &'t RecordedWalk,
        node: NodeIx,
        state: &WalkState,
    ) -> Option<(usize, &'t RecordedStep, bool)> {
        let name = &self.plan.node(node).name;
        let (place, step) = recorded_walk.visit(name, state.visits.get(name).copied().unwrap_or(0))?;
        let by = &step.answer.as_ref()?.by;
        let same = self.same.same_inputs(by, node, || recorded_walk.state(place), state);
        (same || self.answers.is_some()).then_some((place, step, same))
    }
}

pub(super) fn failed(failure: &Failure) -> StepEnd {
    StepEnd::Failed { kind: failure.kind.word().to_owned(), message: failure.diagnostic.message.clone() }
}

/// The recorded result of a decision step.
fn step_end(whats: &[EventBody]) -> StepEnd {
    let to = |what: &EventBody| match what {
        EventBody::Transition { to, edge, because, context, .. } => {
            let (to, edge, because) = (to.clone(), edge.clone(), because.clone());
            Some(StepEnd::To { to, edge, because, context: context.clone() })
        }
        EventBody::Fork { branches, .. } => Some(forked(branches)),
        _ => None,
    };
    whats.iter().find_map(to).unwrap_or(StepEnd::Over)
}
