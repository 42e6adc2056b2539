//! Assembles the steps of walks from recorded events.

use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use asterisk_store::StoreError;
use asterisk_walk::{
    Branch, BranchKind, ConsideredEdge, Content, Event, EventBody, FIRST, Name, Reason, StepWalker, WalkerAssignments,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// A recorded step of a walk.
#[derive(Clone, Debug)]
pub struct JournalStep {
    pub case: Name,
    /// The step's hierarchical path.
    pub path: Name,
    pub node: Name,
    pub at: Timestamp,
    /// The revision of the texts it used.
    pub revision: u64,
    /// The address of their manifest.
    pub manifest: Hash,
    /// The walker, in a team.
    pub walker: Option<StepWalker>,
    /// Its masks, outermost first.
    pub masks: Vec<Name>,
    /// The kind of answerer: `script`, `stub`, `agent`, `human`; `None` if the step failed before.
    pub by: Option<Name>,
    /// The address of the tool call that answered it, if any.
    pub call: Option<Hash>,
    /// The addresses of artifact, state and vars, if it had a decision.
    pub inputs: Option<[Hash; 3]>,
    /// The edges, in the order considered.
    pub considered: Vec<ConsideredEdge>,
    /// The attempts, at a node with a policy.
    pub attempts: Vec<RecordedAttempt>,
    /// The result of the step.
    pub end: StepEnd,
    /// Whether it belongs to a sub-pipeline, or to a branch of a `foreach` node.
    pub within: bool,
}

/// An attempt at a node with a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedAttempt {
    /// The number of the attempt, from 1.
    pub attempt: u64,
    /// `passed`, or the reason it did not pass.
    pub outcome: Name,
    /// The scores and the threshold, or the error.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The address of the gate's decision.
    #[serde(skip)]
    pub review: Option<Hash>,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepEnd {
    /// The walk moved on, or completed with the pipeline's done name.
    To {
        /// The node entered, or the done name.
        to: Name,
        /// The edge taken, or `fallback`.
        edge: Name,
        because: Reason,
        /// Context added to the walk.
        context: Map<String, Value>,
    },
    /// The walk completed at a node without edges.
    Over,
    /// The walk failed.
    Failed { kind: String, message: String },
    /// The record ends here.
    Open,
}

/// Assembles steps from events in order.
#[derive(Debug)]
pub(super) struct StepAssembler {
    began: Hash,
    /// The revision and manifest of cases that have upgraded since the run began.
    upgraded: HashMap<Name, (u64, Hash)>,
    open: Option<JournalStep>,
    /// Steps with an inner walk, by case and path: they end after it.
    walked: BTreeMap<(Name, Name), JournalStep>,
    walkers: WalkerAssignments,
    /// Recorded tool calls, by case and path of their steps: they are recorded before the step.
    called: BTreeMap<(Name, Name), Hash>,
    /// Attempts by case and path of their steps. Failed attempts are recorded before their step.
    tried: BTreeMap<(Name, Name), Vec<RecordedAttempt>>,
}

impl StepAssembler {
    /// For a run that began with this manifest.
    pub(super) fn new(began: Hash) -> Self {
        Self {
            began,
            upgraded: HashMap::new(),
            open: None,
            walked: BTreeMap::new(),
            walkers: WalkerAssignments::default(),
            called: BTreeMap::new(),
            tried: BTreeMap::new(),
        }
    }

    /// Applies an event, and returns the step that it completes, if any.
    pub(super) fn take(&mut self, event: Event) -> Option<JournalStep> {
        let same = self.open.as_ref().is_some_and(|step| step.case == event.case && step.path == event.path);
        let done = if same { None } else { self.open.take() };
        let Event { case, path, at, what } = event;
        match what {
            EventBody::Upgraded { revision, manifest } => {
                self.upgraded.insert(case, (revision, manifest));
            }
            EventBody::NodeEnter { node } => {
                // An interrupted step was taken again.
                let done = done.or_else(|| self.open.take());
                self.open = Some(self.begun(case, path, at, node));
                return done;
            }
            EventBody::WalkerSwitch { to, because, .. } => self.walkers.switch(&case, &path, to, because),
            EventBody::Requested { call: Some(call), .. } => {
                self.called.insert((case, path), call.hash());
            }
            EventBody::Masked { masks, .. } => self.change(|step| step.masks = masks),
            EventBody::SubWalk { .. } | EventBody::Fork { by: BranchKind::Items, .. } => {
                if let Some(step) = self.open.take() {
                    self.walked.insert((case, path), step);
                }
            }
            EventBody::NodeExit { by, .. } => {
                self.open = self.walked.remove(&(case, path)).or_else(|| self.open.take());
                self.change(|step| step.by = Some(by));
            }
            EventBody::EdgeEvaluate { artifact, state, vars, considered, .. } => self.change(|step| {
                step.inputs = Some([&artifact, &state, &vars].map(Content::hash));
                step.considered = considered;
            }),
            EventBody::Transition { to, edge, because, context, .. } => {
                self.change(|step| step.end = StepEnd::To { to, edge, because, context });
            }
            EventBody::Fork { by: BranchKind::Edges, branches, .. } => {
                let end = forked(&branches);
                self.change(|step| step.end = end);
            }
            EventBody::WalkComplete { .. } => self.change(|step| {
                if step.end == StepEnd::Open {
                    step.end = StepEnd::Over;
                }
            }),
            EventBody::WalkError { node, kind, message } | EventBody::BranchError { node, kind, message, .. } => {
                // The only event of a walk that failed before its step began.
                if self.open.is_none() {
                    self.open = Some(self.begun(case, path, at, node));
                }
                self.change(|step| step.end = StepEnd::Failed { kind, message });
            }
            EventBody::StepRetry { attempt, reason, message, score, threshold, review, .. } => {
                let review = review.map(|review| review.hash());
                let tried = RecordedAttempt { attempt, outcome: reason, message, score, threshold, review };
                self.tried.entry((case, path)).or_default().push(tried);
            }
            EventBody::StepComplete { attempts: attempt, score, threshold, review, .. } => {
                let review = review.map(|review| review.hash());
                let message = String::new();
                let passed = RecordedAttempt { attempt, outcome: "passed".into(), message, score, threshold, review };
                self.end_attempts(&(case, path), passed);
            }
            EventBody::StepError { attempts: attempt, reason, message, review, .. } => {
                let review = review.map(|review| review.hash());
                let failed = RecordedAttempt { attempt, outcome: reason, message, score: None, threshold: None, review };
                self.end_attempts(&(case, path), failed);
            }
            EventBody::StepStart { .. }
            | EventBody::StepAttempt { .. }
            | EventBody::StepSkipped { .. }
            | EventBody::CacheHit { .. }
            | EventBody::Answered { .. }
            | EventBody::AdvisorReview { .. }
            | EventBody::Fork { .. }
            | EventBody::Join { .. }
            | EventBody::Barrier { .. }
            | EventBody::Reload { .. }
            | EventBody::Shadow { .. }
            | EventBody::Verdict { .. }
            | EventBody::Root { .. }
            | EventBody::ThermalWarning { .. }
            | EventBody::Requested { .. }
            | EventBody::Rejected { .. }
            | EventBody::Unanswered { .. }
            | EventBody::Reopened { .. } => {}
        }
        done
    }

    /// The steps that are incomplete at the end of the events.
    pub(super) fn end(self) -> impl Iterator<Item = JournalStep> {
        self.open.into_iter().chain(self.walked.into_values().rev())
    }

    fn begun(&mut self, case: Name, path: Name, at: Timestamp, node: Name) -> JournalStep {
        let (revision, manifest) = self.upgraded.get(&case).copied().unwrap_or((FIRST, self.began));
        let walker = self.walkers.at(&case, &path);
        let call = self.called.remove(&(case.clone(), path.clone()));
        let (masks, by, inputs, considered) = (Vec::new(), None, None, Vec::new());
        let within = path.match_indices('/').any(|(at, _)| self.walked.contains_key(&(case.clone(), path[..at].into())));
        JournalStep {
            case,
            path,
            node,
            at,
            revision,
            manifest,
            walker,
            masks,
            by,
            call,
            inputs,
            considered,
            attempts: Vec::new(),
            end: StepEnd::Open,
            within,
        }
    }

    /// Appends the final attempt, after the earlier ones, to the step in progress.
    fn end_attempts(&mut self, of: &(Name, Name), last: RecordedAttempt) {
        let mut attempts = self.tried.remove(of).unwrap_or_default();
        attempts.push(last);
        self.change(|step| step.attempts = attempts);
    }

    fn change(&mut self, change: impl FnOnce(&mut JournalStep)) {
        if let Some(step) = &mut self.open {
            change(step);
        }
    }
}

impl JournalStep {
    /// Whether it belongs to the case's own walk.
    pub fn is_own(&self) -> bool {
        !self.within
    }
}

/// The result of a step that takes several edges in parallel.
pub(super) fn forked(branches: &[Branch]) -> StepEnd {
    let all = |text: &dyn Fn(&Branch) -> String| branches.iter().map(text).collect::<Vec<_>>().join(" & ");
    let because = |branch: &Branch| branch.because.as_deref().unwrap_or_default().to_owned();
    let mut context = Map::new();
    for branch in branches {
        context.extend(branch.context.clone());
    }
    StepEnd::To {
        to: all(&|branch| branch.node.to_string()).into(),
        edge: all(&|branch| branch.edge.as_deref().unwrap_or_default().to_owned()).into(),
        because: all(&because).into(),
        context,
    }
}

/// The error of an inconsistent record.
pub(super) fn damaged(what: String) -> asterisk_session::SessionError {
    StoreError::Damaged(what).into()
}
