//! The state of a walk: a fold over its events, and nothing else (`design.md` §2.2).

use super::agent::TokenUsage;
use super::branch::{BranchKind, BranchOrigin};
use super::content::Content;
use super::event::{Event, EventBody, FIRST};
use super::name::{Name, Reason};
use super::open_request::OpenRequest;
use super::outcome::EdgeOutcome;
use super::path::BRANCH;
use super::views::{StateViews, context_view, loops_view};
use super::visit::Visit;
use crate::clock::Timestamp;
use crate::script::View;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How far a walk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkStatus {
    /// Not over.
    #[default]
    Running,
    /// Stopped between two steps; it can be resumed.
    Paused,
    /// Over.
    Done,
    /// Failed.
    Error,
}

impl WalkStatus {
    /// What people call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Error => "failed",
        }
    }
}

/// Where a walk is, and what it has been through.
#[derive(Clone, Debug)]
pub struct WalkState {
    /// The node to go on at; absent before the first step and after the last.
    pub node: Option<Name>,
    /// How far the walk is.
    pub status: WalkStatus,
    /// Why it failed: kind and message.
    pub error: Option<(String, String)>,
    /// Steps completed. The next step's number is one more.
    pub steps: u64,
    /// The nodes entered, in order.
    pub path: Vec<Name>,
    /// The transitions so far.
    pub history: Vec<Visit>,
    /// The counters taken; a counter never taken is 0 and absent here.
    pub loops: BTreeMap<String, i64>,
    /// What edges added, later keys winning.
    pub context: Map<String, Value>,
    /// The latest artifact's confidence.
    pub confidence: Option<f64>,
    /// Who took the last step, of a walk with a team.
    pub walker: Option<Name>,
    /// Steps given to another walker than the step before.
    pub handoffs: i64,
    /// The symbolic ids bound by effects.
    pub bindings: BTreeMap<String, i64>,
    /// The latest artifact of each node visited.
    pub prior: BTreeMap<Name, Content>,
    /// How often each node was entered to completion.
    pub visits: BTreeMap<Name, usize>,
    /// When the first step began.
    pub started_at: Option<Timestamp>,
    /// Which texts of the run the last step went by; 1 for those the run began with.
    pub generation: u64,
    /// How long the answers took so far, those of walks within this one too, in milliseconds.
    pub spent_ms: u64,
    /// How many answers there were, those of walks within this one too.
    pub answers: u64,
    /// What the answers took so far, those of walks within this one too.
    pub tokens: TokenUsage,
    /// What was asked outside of the process for the step to be taken, in order; see [`WalkState::waits`].
    pub asked: Vec<OpenRequest>,
    /// Whether it was over and goes on because somebody wants it to.
    pub reopened: bool,
    /// Of a walk within a walk: what the paths of its steps begin with (`3/court/`); nothing of a case's own walk.
    pub place: Name,
    /// What goes on in the place of the node that the walk is at: one walk, or the branches in their order.
    pub inner: Vec<Self>,
    /// Of a branch, what makes it one: it is over with its only step.
    pub lone: Option<Box<BranchOrigin>>,
    /// What is added to the count of a node's visits within a branch, so that branches which take the same node do not take the
    /// same visit of it.
    pub offset: usize,
    /// How many commits this walk consists of so far, those of walks within it too.
    pub ticks: u64,
    /// What advisories said at the node in question.
    pub(super) advice: Vec<(Name, Reason)>,
    pub(super) views: StateViews,
}

impl Default for WalkState {
    fn default() -> Self {
        Self {
            node: None,
            status: WalkStatus::Running,
            error: None,
            steps: 0,
            path: Vec::new(),
            history: Vec::new(),
            loops: BTreeMap::new(),
            context: Map::new(),
            confidence: None,
            walker: None,
            handoffs: 0,
            bindings: BTreeMap::new(),
            prior: BTreeMap::new(),
            visits: BTreeMap::new(),
            started_at: None,
            generation: FIRST,
            spent_ms: 0,
            answers: 0,
            tokens: TokenUsage::default(),
            asked: Vec::new(),
            reopened: false,
            place: Name::default(),
            inner: Vec::new(),
            lone: None,
            offset: 0,
            ticks: 0,
            advice: Vec::new(),
            views: StateViews::default(),
        }
    }
}

impl WalkState {
    /// The state after all of these events, from the beginning.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// The path of the next step, or of the one being taken.
    pub fn next_path(&self) -> Name {
        compact_str::format_compact!("{}{}", self.place, self.steps + 1)
    }

    /// The walk that goes on: this one, or the innermost within it that is not over.
    pub fn ongoing(&self) -> &Self {
        self.inner.iter().find(|inner| !inner.is_over()).map_or(self, |inner| inner.ongoing())
    }

    /// Whether it is over, for better or worse.
    pub fn is_over(&self) -> bool {
        matches!(self.status, WalkStatus::Done | WalkStatus::Error)
    }

    /// Whether it is a branch that this made.
    pub(super) fn is_by(&self, by: BranchKind) -> bool {
        self.lone.as_ref().is_some_and(|lone| lone.by == by)
    }

    /// What the paths of its steps begin with, up to the innermost branch that it is or is in; nothing outside branches.
    pub(super) fn branch(&self) -> &str {
        let Some(at) = self.place.rfind(BRANCH) else { return "" };
        let end = self.place[at..].find(']').map_or(self.place.len(), |end| at + end + 1);
        &self.place[..end]
    }

    /// The request that the walk waits for an answer to, if any.
    pub fn waits(&self) -> Option<&OpenRequest> {
        if self.is_over() { None } else { self.inner.iter().find_map(Self::waits).or(self.asked.last()) }
    }

    /// The last artifact.
    pub fn last_artifact(&self) -> Option<&Content> {
        self.path.last().and_then(|node| self.prior.get(node))
    }

    /// How a walk begins that goes on in the place of a node of this one: it knows what this one knows. What it counts and adds
    /// to the context is its own.
    #[must_use]
    pub fn within(&self, node: &Name, path: &Name) -> Self {
        let own = compact_str::format_compact!("{node}/");
        let earlier = |(name, visits): (&Name, &usize)| Some((Name::from(name.strip_prefix(own.as_str())?), *visits));
        let mut inner = Self::with(self.loops.clone(), self.context.clone(), Vec::new());
        inner.place = compact_str::format_compact!("{path}/{node}/");
        inner.confidence = self.confidence;
        inner.bindings.clone_from(&self.bindings);
        inner.prior.clone_from(&self.prior);
        inner.visits = self.visits.iter().filter_map(earlier).collect();
        inner.generation = self.generation;
        inner.offset = self.offset;
        inner
    }

    /// What stays of a walk that went on in the place of a node: its artifacts, how often its nodes were visited, what its effects
    /// bound.
    pub(super) fn after(&mut self, node: &Name, inner: Self) {
        let own = |name: &Name| compact_str::format_compact!("{node}/{name}");
        for name in &inner.path {
            if let Some(artifact) = inner.prior.get(name) {
                self.prior.insert(own(name), artifact.clone());
            }
        }
        self.visits.extend(inner.visits.iter().map(|(name, visits)| (own(name), *visits)));
        self.bindings.extend(inner.bindings);
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &Event) {
        if let EventBody::NodeExit { took_ms, agent, .. } = &event.what {
            self.spent_ms += took_ms;
            self.answers += 1;
            if let Some(tokens) = agent.as_ref().and_then(|agent| agent.tokens.as_ref()) {
                self.tokens.add(tokens);
            }
        }
        self.ticks += u64::from(is_one_of_a_commit(&event.what));
        if let EventBody::BranchError { branch, kind, message, .. } = &event.what
            && *branch == self.place
        {
            self.status = WalkStatus::Error;
            self.error = Some((kind.clone(), message.clone()));
            return;
        }
        if let Some(inner) = self.inner_of(&event.path) {
            inner.apply(event);
            let (failed, error) = (inner.status == WalkStatus::Error, inner.error.clone());
            // It is the case that goes by texts, whichever of its branches came first.
            if let EventBody::Adopt { generation, .. } = &event.what {
                self.generation = *generation;
            }
            if failed && !matches!(event.what, EventBody::BranchError { .. }) {
                (self.status, self.error) = (WalkStatus::Error, error);
            }
            return;
        }
        match &event.what {
            EventBody::SubWalk { node, .. } => self.inner = vec![self.within(node, &event.path)],
            EventBody::Fork { by, branches, .. } => self.fork(*by, branches, event.at),
            EventBody::Join { to } => self.join(to.as_ref()),
            EventBody::NodeEnter { node } => {
                self.node = Some(node.clone());
                self.path.push(node.clone());
                self.status = WalkStatus::Running;
                self.error = None;
                self.started_at.get_or_insert(event.at);
            }
            EventBody::NodeExit { node, artifact, confidence, bindings, .. } => {
                let own = match std::mem::take(&mut self.inner) {
                    branches if branches.iter().any(|branch| branch.lone.is_some()) => self.fanned(&branches),
                    parts => {
                        for part in parts {
                            self.after(node, part);
                        }
                        1
                    }
                };
                self.asked.clear();
                self.confidence = confidence.or(self.confidence);
                self.bindings.extend(bindings.iter().map(|(name, id)| (name.clone(), *id)));
                self.prior.insert(node.clone(), artifact.clone());
                *self.visits.entry(node.clone()).or_default() += own;
                self.steps += 1;
            }
            EventBody::EdgeEvaluate { considered, .. } => {
                let spoke = considered.iter().filter(|entry| entry.outcome == EdgeOutcome::Advisory);
                self.advice.extend(spoke.map(|entry| (entry.edge.clone(), entry.because.clone().unwrap_or_default())));
            }
            EventBody::Transition { from, to, edge, because, counter, context } => {
                if let Some(counter) = counter {
                    *self.loops.entry(counter.to_string()).or_default() += 1;
                    self.views.loops = loops_view(&self.loops);
                }
                if !context.is_empty() {
                    self.context.extend(context.iter().map(|(key, value)| (key.clone(), value.clone())));
                    self.views.context = context_view(&self.context);
                }
                let visit = Visit {
                    node: from.clone(),
                    edge: edge.clone(),
                    because: because.clone(),
                    advisories: std::mem::take(&mut self.advice),
                    at: event.at,
                };
                self.views.history = self.views.history.with(visit.view());
                self.history.push(visit);
                self.node = Some(to.clone());
                if let Some(lone) = &mut self.lone {
                    lone.leads(to, context);
                    self.status = WalkStatus::Done;
                }
            }
            EventBody::Adopt { generation, .. } => self.generation = *generation,
            EventBody::WalkerSwitch { from, to, .. } => {
                self.handoffs += i64::from(from.is_some());
                self.walker = Some(to.clone());
            }
            EventBody::Asked { .. } | EventBody::Complained { .. } => OpenRequest::take(&mut self.asked, event),
            EventBody::Reopened { node, .. } => {
                self.status = WalkStatus::Running;
                self.node = Some(node.clone());
                self.error = None;
                self.asked.clear();
                self.inner.clear();
                self.reopened = true;
            }
            EventBody::Unanswered { .. }
            | EventBody::Barrier { .. }
            | EventBody::Reload { .. }
            | EventBody::Shadow { .. }
            | EventBody::Masked { .. }
            | EventBody::BranchError { .. }
            | EventBody::ThermalWarning { .. } => {}
            EventBody::WalkComplete { .. } => {
                self.status = WalkStatus::Done;
                self.node = None;
            }
            EventBody::WalkError { node, kind, message } => {
                self.asked.clear();
                self.status = WalkStatus::Error;
                self.node = Some(node.clone());
                self.error = Some((kind.clone(), message.clone()));
            }
        }
    }

    /// A state with these counters, context and history (for `route`: absent parts are empty).
    pub fn with(loops: BTreeMap<String, i64>, context: Map<String, Value>, history: Vec<Visit>) -> Self {
        let mut state = Self::default();
        state.views.loops = loops_view(&loops);
        state.views.context = context_view(&context);
        state.views.history = View::list("state.history", history.iter().map(Visit::view));
        state.steps = history.len() as u64;
        (state.loops, state.context, state.history) = (loops, context, history);
        state
    }
}

/// Whether the event is in every commit of a step once: of one that is answered, of one that begins a walk or branches of its own, and of
/// one that ends them.
fn is_one_of_a_commit(what: &EventBody) -> bool {
    matches!(
        what,
        EventBody::NodeExit { .. }
            | EventBody::SubWalk { .. }
            | EventBody::Join { .. }
            | EventBody::Fork { by: BranchKind::Items | BranchKind::Waves, .. }
    )
}
