//! A case walked again, by another plan, on the answers that were recorded: the edges are decided anew, nobody is asked anything.

use super::answer_inputs::AnswerInputs;
use super::recorded_walk::{RecordedStep, RecordedWalk, enter, event};
use super::reuse_check::{KnowledgeMatch, ReuseCheck};
use crate::clock::chance;
use crate::decisions::StepEnd;
use crate::decisions::steps::apart;
use crate::model::Hash;
use crate::pipeline::NodeIx;
use crate::script::View;
use crate::session::SessionError;
use crate::walk::{
    Content, DecisionStep, EventBody, Failure, Name, Plan, Query, StepContext, StepMoment, TeamMember, WalkState, WalkStatus,
    place_of,
};
use std::collections::BTreeMap;

/// What to go by.
#[derive(Clone, Copy)]
pub(super) struct ReplayWalk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) same: &'a AnswerInputs,
    /// The nodes where what was decided holds, as long as the walk is as it was.
    pub(super) settled: Option<&'a ReuseCheck>,
    /// The seed of the run's chance.
    pub(super) seed: u64,
    pub(super) case: &'a str,
    /// Who walks where the plan has no team: whoever takes the step around it.
    pub(super) inherited: Option<&'a TeamMember>,
    /// What the scheduler's reads found, if they were recorded.
    pub(super) needs: &'a [(String, View)],
    /// Whether the record is a walk, whose first steps are the same until a decision differs; else it is only a list of answers.
    pub(super) follow: bool,
}

/// Gives a recorded artifact in the form of the schema of a plan's node.
pub(super) type ArtifactSource<'a> = dyn FnMut(&Hash, &Plan, NodeIx) -> Result<View, SessionError> + 'a;

/// A decision that was made again.
#[derive(Clone, Debug)]
pub(super) struct ReplayedDecision {
    pub(super) node: Name,
    /// The step's path in the new walk.
    pub(super) path: Name,
    /// The place of the record whose answer was decided on; none of a walk that could not go on before anyone was asked.
    pub(super) place: Option<usize>,
    /// What the record has of it, if it has the same decision.
    pub(super) before: Option<StepEnd>,
    pub(super) now: StepEnd,
    /// Artifact and state as the rules saw them, of a decision that goes another way.
    pub(super) seen: Option<(View, View)>,
}

/// What came of walking a case again.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplayOutcome {
    pub(super) decisions: Vec<ReplayedDecision>,
    /// The node of which the new way needs an answer that nobody recorded.
    pub(super) unknown: Option<(Name, Name)>,
}

impl ReplayOutcome {
    /// How many decisions go another way than those of another walk of the case at the same visit of the same node.
    pub(super) fn flips_from(&self, other: &Self) -> usize {
        let numbered = |walk: &Self| {
            let mut visits: BTreeMap<Name, usize> = BTreeMap::new();
            let number = |decision: &ReplayedDecision| {
                // A node of a walk within is another than one of that name around it.
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
    /// Whether the walk goes another way than it went.
    pub(super) fn flipped(&self) -> bool {
        self.before.as_ref().is_some_and(|before| !same_way(before, &self.now))
    }
}

/// Whether both go to the same node by the same edge, or fail alike.
fn same_way(a: &StepEnd, b: &StepEnd) -> bool {
    match (a, b) {
        (StepEnd::To { to, edge, .. }, StepEnd::To { to: other, edge: by, .. }) => to == other && edge == by,
        (StepEnd::Failed { kind, .. }, StepEnd::Failed { kind: other, .. }) => kind == other,
        (a, b) => a == b,
    }
}

impl ReplayWalk<'_> {
    /// Walks a case again. `artifact` gives a recorded artifact in the form of a node's schema.
    pub(super) fn case(&self, tape: &RecordedWalk, artifact: &mut ArtifactSource<'_>) -> Result<ReplayOutcome, SessionError> {
        let mut done = ReplayOutcome::default();
        self.walk(tape, WalkState::default(), artifact, &mut done, &mut KnowledgeMatch { ways: true, reasons: true })?;
        Ok(done)
    }

    /// Walks on from a state, to the end or as far as it is known. Returns the state, and the address of the last artifact if the
    /// walk is over. `exact` says whether the walk knows what the recorded one knew.
    pub(super) fn walk(
        &self,
        tape: &RecordedWalk,
        mut state: WalkState,
        artifact: &mut ArtifactSource<'_>,
        done: &mut ReplayOutcome,
        exact: &mut KnowledgeMatch,
    ) -> Result<(WalkState, Option<Hash>), SessionError> {
        let mut last = None;
        // Where nodes wait for each other, nothing is decided.
        if self.plan.pipeline.waves() && state.lone.is_none() {
            return Ok((state, last));
        }
        // The step of the record that the walk is at, as long as it is the recorded walk.
        let mut on = self.follow.then_some(0);
        while !matches!(state.status, WalkStatus::Done | WalkStatus::Error) {
            if !state.inner.is_empty() {
                if !self.beside(on.is_some().then_some(tape), &mut state, artifact, (done, exact))? {
                    break;
                }
                continue;
            }
            let recorded = on.and_then(|place: usize| tape.steps.get(place));
            if on.is_some() && recorded.is_none() {
                break;
            }
            let path = state.next_path();
            let node = match self.plan.next(&state) {
                Ok(node) => node,
                Err(failure) => {
                    let node = state.node.clone().unwrap_or_default();
                    let before = recorded.map(|step| step.went.clone());
                    done.decisions.push(ReplayedDecision { node, path, place: None, before, now: failed(&failure), seen: None });
                    break;
                }
            };
            let name = &self.plan.node(node).name;
            if recorded.is_some_and(|step| step.node != *name) {
                on = None;
            }
            let at = recorded.map_or_else(|| tape.time(name, &state), |step| step.at);
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
                    let before = recorded.filter(|_| on.is_some()).map(|step| step.went.clone());
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
                Some(step) if step.answer.is_some() => on.map(|place| (place, step)),
                // It could not go on there, and now would.
                Some(RecordedStep { went: StepEnd::Failed { kind, .. }, .. })
                    if matches!(kind.as_str(), "max_steps" | "node_not_found") =>
                {
                    None
                }
                // Nobody answered, whatever the rules.
                Some(_) => break,
                None => self.elsewhere(tape, node, &state),
            };
            let Some((place, step, answer)) = found.and_then(|(place, step)| Some((place, step, step.answer.as_ref()?))) else {
                done.unknown = Some((name.clone(), path));
                break;
            };
            let mut hash = answer.artifact;
            let mut inner = None;
            if on.is_some() && !self.each((tape, step, node), &state, member, artifact, done)? {
                break;
            }
            if let Some(part) = self.plan.node(node).part.as_deref().filter(|part| step.fork.is_none() && !part.pipeline.waves())
            {
                inner = tape.walked(step, &state);
                let within = tape.of_place(&state.within(name, &path).place).filter(|_| on.is_some());
                if let (Some(within), Some(same)) = (within, self.same.part(node)) {
                    let settled = self.settled.and_then(|settled| settled.part(node));
                    let again = ReplayWalk { plan: part, same, settled, inherited: Some(member), ..*self };
                    let (ended, found) = again.walk(&within, state.within(name, &path), artifact, done, exact)?;
                    let Some(found) = found else {
                        state.status = ended.status;
                        break;
                    };
                    if found != hash {
                        // What comes after it is told something else than it was.
                        on = None;
                    }
                    hash = found;
                    inner = Some(ended);
                }
            }
            let holds = self.settled.is_some_and(|settled| settled.holds(node, *exact));
            if on.is_some() && holds && step.fork.is_none() && step.went != StepEnd::Open {
                enter(&mut state, name, step.at, (Content::from(hash), answer.confidence), &answer.by, inner);
                step.go(&mut state);
                if state.node.as_ref() == Some(&self.plan.done) {
                    state.apply(&event(step.at, EventBody::WalkComplete { node: name.clone() }));
                }
                last = Some(hash);
                on = on.map(|place| place + 1);
                let (node, went) = (name.clone(), step.went.clone());
                done.decisions.push(ReplayedDecision {
                    node,
                    path,
                    place: Some(place),
                    before: Some(went.clone()),
                    now: went,
                    seen: None,
                });
                continue;
            }
            let view = artifact(&hash, self.plan, node)?;
            let moment = StepMoment { now: step.at, chance: drawn };
            let walk = &state;
            let here = StepContext { plan: self.plan, node, walk, path: &path, moment, member, handoffs: state.handoffs };
            let confidence = here.confidence(&view);
            let mut whats = Vec::with_capacity(3);
            let failure = DecisionStep { step: here, shadow: None }
                .take(&view, Content::from(hash), confidence, |what| whats.push(what))
                .err();
            enter(&mut state, name, step.at, (Content::from(hash), confidence), &answer.by, inner);
            last = Some(hash);
            let now = failure.as_ref().map_or_else(|| way(&whats), failed);
            let (node, before) = (name.clone(), Some(step.went.clone()).filter(|went| *went != StepEnd::Open));
            let mut redecided = ReplayedDecision { node, path, place: Some(place), before, now, seen: None };
            if redecided.flipped() {
                on = None;
                let saw = |what: &EventBody| {
                    if let EventBody::EdgeEvaluate { state, .. } = what { state.view().cloned() } else { None }
                };
                redecided.seen = whats.iter().find_map(saw).map(|state| (view, state));
            }
            let left = KnowledgeMatch::left(&whats, step);
            exact.ways &= confidence == answer.confidence && left.ways;
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

    /// Who takes the step, with the event if it is another one than before. Nothing if that is by reads that were not recorded.
    fn member(
        &self,
        node: NodeIx,
        state: &WalkState,
        moment: StepMoment,
    ) -> Result<Option<(&TeamMember, Option<EventBody>)>, Failure> {
        let Some(team) = &self.plan.team else { return Ok(Some((self.plan.member(None, self.inherited), None))) };
        let known = |need: &Query| self.needs.iter().any(|(name, _)| *name == need.name.replace('.', "_"));
        if !team.needs.iter().all(|need| known(need)) {
            return Ok(None);
        }
        team.choose(self.plan, node, state, moment, self.needs).map(Some)
    }

    /// The recorded step of the same node, visited as often, whose answer stands for the one that is needed: whoever gave it was told
    /// the same.
    fn elsewhere<'t>(&self, tape: &'t RecordedWalk, node: NodeIx, state: &WalkState) -> Option<(usize, &'t RecordedStep)> {
        let name = &self.plan.node(node).name;
        let (place, step) = tape.visit(name, state.visits.get(name).copied().unwrap_or(0))?;
        let by = &step.answer.as_ref()?.by;
        self.same.told(by, node, || tape.state(place), state).then_some((place, step))
    }
}

pub(super) fn failed(failure: &Failure) -> StepEnd {
    StepEnd::Failed { kind: failure.kind.word().to_owned(), message: failure.diagnostic.message.clone() }
}

/// The way that a turn left in the record.
fn way(whats: &[EventBody]) -> StepEnd {
    let to = |what: &EventBody| match what {
        EventBody::Transition { to, edge, because, context, .. } => {
            let (to, edge, because) = (to.clone(), edge.clone(), because.clone());
            Some(StepEnd::To { to, edge, because, context: context.clone() })
        }
        EventBody::Fork { branches, .. } => Some(apart(branches)),
        _ => None,
    };
    whats.iter().find_map(to).unwrap_or(StepEnd::Over)
}
