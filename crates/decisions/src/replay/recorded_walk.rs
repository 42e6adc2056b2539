//! The recorded walk of a case, reduced to what replay needs.

use crate::StepEnd;
use crate::steps::{damaged, forked};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use asterisk_project::Project;
use asterisk_session::SessionError;
use asterisk_store::StoreReading;
use asterisk_walk::{
    BranchKind, Content, EdgeOutcome, Event, EventBody, EventOutline, Name, Plan, Reason, TransitionOutline, WalkState, joined,
    place_of,
};
use std::collections::{BTreeMap, HashSet};

/// The recorded walk of a case.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedWalk {
    pub(super) steps: Vec<RecordedStep>,
    /// The address of the results of the scheduler's queries, if it declares any: of the store at the run's start, hence the same
    /// at every step.
    pub(super) needs: Option<Hash>,
    /// The last verdict of the case.
    pub(super) verdict: Option<RecordedVerdictEvent>,
    /// The steps of inner walks, by their path prefix (`5/court/`).
    within: BTreeMap<Name, Vec<RecordedStep>>,
}

/// A recorded step.
#[derive(Clone, Debug)]
pub(super) struct RecordedStep {
    pub(super) path: Name,
    pub(super) at: Timestamp,
    pub(super) node: Name,
    /// The change of walker before it.
    switch: Option<EventBody>,
    /// The decision, if any advisory fired.
    pub(super) advised: Option<Box<EventBody>>,
    /// Absent if the step failed before.
    pub(super) answer: Option<RecordedAnswer>,
    pub(super) end: StepEnd,
    /// The branches that it forked.
    pub(super) fork: Option<EventBody>,
    /// The counter incremented by its edge.
    pub(super) counter: Option<Name>,
}

/// A recorded answer.
#[derive(Clone, Debug)]
pub(super) struct RecordedAnswer {
    pub(super) artifact: Hash,
    pub(super) by: Name,
    pub(super) confidence: Option<f64>,
    /// The address of the parameters that the answerer saw, if it read any.
    pub(super) params: Option<Hash>,
}

/// A recorded verdict.
#[derive(Clone, Debug)]
pub(super) struct RecordedVerdictEvent {
    /// The step that it was made for.
    pub(super) path: Name,
    pub(super) node: Name,
    /// The address of its rules.
    pub(super) rules: Hash,
    pub(super) verdict: Hash,
    /// The address of the results of the queries that the rules read.
    pub(super) needs: Option<Hash>,
}

/// The nodes at which advisories may have fired, so that other decisions need not be parsed.
pub(super) enum AdvisedNodes {
    /// Any: the graph of the run is unknown.
    Any,
    /// Those that have advisories, in the case's own walk or an inner one.
    These(HashSet<Name>),
}

impl AdvisedNodes {
    /// Of a run with a known project, or any.
    pub(super) fn of(then: Option<&Project>) -> Self {
        fn collect(plan: &Plan, into: &mut HashSet<Name>) {
            for (node, spec) in plan.nodes.iter().zip(&plan.pipeline.nodes) {
                if !spec.advisories.is_empty() {
                    into.insert(node.name.clone());
                }
                node.subpipeline.iter().for_each(|part| collect(part, into));
            }
        }
        let Some(then) = then else { return Self::Any };
        let mut nodes = HashSet::new();
        collect(&then.plan, &mut nodes);
        Self::These(nodes)
    }

    fn has_advisories(&self, node: &Name) -> bool {
        match self {
            Self::Any => true,
            Self::These(nodes) => nodes.contains(node),
        }
    }
}

impl RecordedWalk {
    /// Reads the record of a case.
    pub(super) fn read(reading: &StoreReading<'_>, case: &str, advised: &AdvisedNodes) -> Result<Self, SessionError> {
        let mut own: Vec<RecordedStep> = Vec::with_capacity(8);
        let mut within: BTreeMap<Name, Vec<RecordedStep>> = BTreeMap::new();
        let (mut found, mut verdict) = (None, None);
        let mut switches: BTreeMap<Name, EventBody> = BTreeMap::new();
        reading.events(case, |row| {
            let steps = match place_of(row.path) {
                "" => &mut own,
                place => within.entry(place.into()).or_default(),
            };
            match row.outline()? {
                EventOutline::Whole(what @ EventBody::WalkerSwitch { .. }) => {
                    if let EventBody::WalkerSwitch { needs: Some(needs), .. } = &what {
                        found.get_or_insert(needs.hash());
                    }
                    switches.insert(row.path.into(), what);
                }
                EventOutline::NodeEnter(entered) => {
                    // An unfinished step was taken again.
                    if steps.last().is_some_and(|last| last.path == row.path) {
                        steps.pop();
                    }
                    let begun = RecordedStep::begun(row.path, row.at, &entered.node);
                    steps.push(RecordedStep { switch: switches.remove(row.path), ..begun });
                }
                EventOutline::NodeExit(left) => {
                    if let Some(step) = steps.last_mut().filter(|step| step.node == left.node) {
                        let (artifact, by) = (left.artifact, left.by.as_ref().into());
                        let (confidence, params) = (left.confidence, left.params);
                        step.answer = Some(RecordedAnswer { artifact, by, confidence, params });
                    }
                }
                EventOutline::EdgeEvaluate(decision) => {
                    if let Some(step) = steps.last_mut().filter(|step| advised.has_advisories(&step.node)) {
                        let read = decision.advised().map_err(|error| damaged(format!("an event cannot be read: {error}")))?;
                        step.advised = read.map(Box::new);
                    }
                }
                EventOutline::Whole(what @ EventBody::Fork { .. }) => {
                    if let Some(step) = steps.last_mut().filter(|last| last.path == row.path) {
                        if let EventBody::Fork { by: BranchKind::Edges, branches, .. } = &what {
                            step.end = forked(branches);
                        }
                        step.fork = Some(what);
                    }
                }
                EventOutline::Whole(EventBody::Verdict { node, rules, verdict: made, needs, .. }) => {
                    let (path, verdict_address) = (row.path.into(), made.hash());
                    let needs = needs.as_ref().map(Content::hash);
                    verdict = Some(RecordedVerdictEvent { path, node, rules, verdict: verdict_address, needs });
                }
                EventOutline::Transition(way) => {
                    if let Some(step) = steps.last_mut() {
                        let TransitionOutline { to, edge, because, counter, context } = way;
                        (step.end, step.counter) = (StepEnd::To { to, edge, because, context }, counter);
                    }
                }
                EventOutline::WalkComplete => {
                    if let Some(step) = steps.last_mut().filter(|step| step.end == StepEnd::Open) {
                        step.end = StepEnd::Over;
                    }
                }
                // A subpipeline that failed for want of an answer; a failed branch is without an answer either way.
                EventOutline::Whole(EventBody::BranchError { branch, kind, message, .. }) if !branch.ends_with("]/") => {
                    if let Some(step) = steps.last_mut().filter(|last| last.path == row.path) {
                        step.end = StepEnd::Failed { kind, message };
                    }
                }
                EventOutline::WalkError(failure) => {
                    // The only event of a walk that failed before its step began.
                    if steps.last().is_none_or(|last| last.path != row.path) {
                        steps.push(RecordedStep::begun(row.path, row.at, &failure.node));
                    }
                    if let Some(step) = steps.last_mut() {
                        step.end = StepEnd::Failed { kind: failure.kind, message: failure.message };
                    }
                }
                EventOutline::Whole(_) | EventOutline::Other => {}
            }
            Ok::<_, SessionError>(())
        })?;
        Ok(Self { steps: own, within, needs: found, verdict })
    }

    /// A list of answers, in the order of the visits of each node, without a recorded walk.
    pub(super) fn of_answers(answers: impl IntoIterator<Item = (Name, Hash)>) -> Self {
        let step = |(node, artifact): (Name, Hash)| {
            let answer = Some(RecordedAnswer { artifact, by: "stub".into(), confidence: None, params: None });
            RecordedStep { answer, ..RecordedStep::begun("", Timestamp::default(), &node) }
        };
        Self { steps: answers.into_iter().map(step).collect(), within: BTreeMap::new(), needs: None, verdict: None }
    }

    /// The record of the inner walk with that path prefix.
    pub(super) fn of_place(&self, place: &str) -> Option<Self> {
        let steps = self.within.get(place)?.clone();
        let deeper = self.within.iter().filter(|(other, _)| other.len() > place.len() && other.starts_with(place));
        let within = deeper.map(|(place, steps)| (place.clone(), steps.clone())).collect();
        Some(Self { steps, within, needs: self.needs, verdict: self.verdict.clone() })
    }

    /// The final state of the sub-pipeline of a step, entered in that state.
    pub(super) fn walked(&self, step: &RecordedStep, state: &WalkState) -> Option<WalkState> {
        let inner = state.within(&step.node, &step.path);
        let recorded_walk = self.of_place(&inner.place)?;
        Some(recorded_walk.fold(inner, recorded_walk.steps.len()))
    }

    /// The step of a node's `visit`-th answer, counted from 0, and its index.
    pub(super) fn visit(&self, node: &str, visit: usize) -> Option<(usize, &RecordedStep)> {
        let answered = |(_, step): &(usize, &RecordedStep)| step.node == node && step.answer.is_some();
        self.steps.iter().enumerate().filter(answered).nth(visit)
    }

    /// When the step of a node's next visit was taken; the epoch if it never was.
    pub(super) fn time(&self, node: &str, state: &WalkState) -> Timestamp {
        let visit = state.visits.get(node).copied().unwrap_or(0);
        self.visit(node, visit).map_or_else(Timestamp::default, |(_, step)| step.at)
    }

    /// The state before the step at an index: the fold of what was recorded until then.
    pub(super) fn state(&self, place: usize) -> WalkState {
        let mut state = self.fold(WalkState::default(), place);
        if let Some(step) = self.steps.get(place) {
            step.take_turns(&mut state);
        }
        state
    }

    fn fold(&self, mut state: WalkState, steps: usize) -> WalkState {
        for step in &self.steps[..steps] {
            let inner = self.walked(step, &state);
            step.fold(&mut state, inner);
            self.rejoin(step, &mut state);
        }
        state
    }

    /// Folds the branches of a step, up to their join.
    fn rejoin(&self, step: &RecordedStep, state: &mut WalkState) {
        let Some(fork @ EventBody::Fork { by: BranchKind::Edges, .. }) = &step.fork else { return };
        state.apply(&event(step.at, fork.clone()));
        for branch in &mut state.inner {
            if let Some(recorded_walk) = self.of_place(&branch.place) {
                *branch = recorded_walk.fold(branch.clone(), recorded_walk.steps.len());
            }
        }
        let to = joined(&state.inner).ok().flatten();
        state.apply(&event(step.at, EventBody::Join { to }));
    }

    /// The artifact of a branch, given its path prefix.
    pub(super) fn of_branch(&self, place: &str) -> Option<Hash> {
        Some(self.within.get(place)?.last()?.answer.as_ref()?.artifact)
    }
}

impl RecordedStep {
    fn begun(path: &str, at: Timestamp, node: &str) -> Self {
        Self {
            path: path.into(),
            at,
            node: node.into(),
            switch: None,
            advised: None,
            answer: None,
            end: StepEnd::Open,
            fork: None,
            counter: None,
        }
    }

    /// The advisories that fired at a decision, with their reasons.
    pub(super) fn advisories(what: &EventBody) -> Option<impl Iterator<Item = (&Name, Option<&Reason>)>> {
        let EventBody::EdgeEvaluate { considered, .. } = what else { return None };
        let spoke = considered.iter().filter(|entry| entry.outcome == EdgeOutcome::Advisory);
        Some(spoke.map(|entry| (&entry.edge, entry.because.as_ref())))
    }

    fn take_turns(&self, state: &mut WalkState) {
        if let Some(switch) = &self.switch {
            state.apply(&event(self.at, switch.clone()));
        }
    }

    fn fold(&self, state: &mut WalkState, inner: Option<WalkState>) {
        self.take_turns(state);
        let Some(answer) = &self.answer else { return };
        enter(state, &self.node, self.at, (Content::from(answer.artifact), answer.confidence), &answer.by, inner);
        if self.fork.as_ref().is_none_or(is_of_items) {
            self.go(state);
        }
    }

    /// Applies the recorded transition.
    pub(super) fn go(&self, state: &mut WalkState) {
        if let Some(advised) = &self.advised {
            state.apply(&event(self.at, EventBody::clone(advised)));
        }
        let node = self.node.clone();
        let what = match &self.end {
            StepEnd::To { to, edge, because, context } => EventBody::Transition {
                from: node,
                to: to.clone(),
                edge: edge.clone(),
                because: because.clone(),
                counter: self.counter.clone(),
                context: context.clone(),
            },
            StepEnd::Over => EventBody::WalkComplete { node },
            StepEnd::Failed { kind, message } => {
                EventBody::WalkError { node, kind: kind.as_str().into(), message: message.clone() }
            }
            StepEnd::Open => return,
        };
        state.apply(&event(self.at, what));
    }
}

/// Applies the entry and the answer of a node, which may be a sub-pipeline.
pub(super) fn enter(
    state: &mut WalkState,
    node: &Name,
    at: Timestamp,
    (artifact, confidence): (Content, Option<f64>),
    by: &Name,
    inner: Option<WalkState>,
) {
    state.apply(&event(at, EventBody::NodeEnter { node: node.clone() }));
    state.inner = inner.into_iter().collect();
    let what = EventBody::NodeExit {
        node: node.clone(),
        artifact,
        by: by.clone(),
        params: None,
        template: None,
        took_ms: 0,
        agent: None,
        confidence,
        effects: Vec::new(),
        bindings: std::collections::BTreeMap::new(),
    };
    state.apply(&event(at, what));
}

/// Whether a fork is of a `foreach` node, whose step continues as any other.
fn is_of_items(fork: &EventBody) -> bool {
    matches!(fork, EventBody::Fork { by: BranchKind::Items, .. })
}

/// An event without a case.
pub(super) fn event(at: Timestamp, what: EventBody) -> Event {
    Event { case: Name::default(), path: Name::default(), at, what }
}
