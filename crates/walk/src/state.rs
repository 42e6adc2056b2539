//! The state of a walk: a fold over its events, and nothing else.

use super::agent::TokenUsage;
use super::attempt::{FailedAttempt, FailedNode, ReviewedStep};
use super::branch::{BranchKind, BranchOrigin};
use super::content::Content;
use super::error::Failure;
use super::event::{Event, EventBody, FIRST};
use super::name::{Name, Reason};
use super::open_request::OpenRequest;
use super::outcome::EdgeOutcome;
use super::path::BRANCH;
use super::plan::Plan;
use super::queries::CODE_FIELD;
use super::review::AdvisorReview;
use super::verdict::FailedRule;
use super::views::{StateViews, context_view, loops_view};
use super::visit::Visit;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Hash, Kind};
use asterisk_script::View;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The status of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkStatus {
    #[default]
    Running,
    /// Stopped between two steps; it can be resumed.
    Paused,
    Done,
    Error,
}

impl WalkStatus {
    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Error => "failed",
        }
    }
}

/// A verdict that was made in a walk.
#[derive(Clone, Debug)]
pub struct RecordedVerdict {
    /// The address of its rules.
    pub rules: Hash,
    /// The verdict, as scripts read it.
    pub content: Content,
    /// The results of the queries that its rules read.
    pub needs: Option<Content>,
}

impl RecordedVerdict {
    /// A verdict that was made again, with the code that its rules had read (`params.code`).
    pub fn again(rules: Hash, content: Content, code: &Value) -> Self {
        let code = Content::new(View::of(code, &Kind::Any, "params.code"));
        Self { rules, content, needs: Some(Content::of_parts([(CODE_FIELD.into(), code)])) }
    }
}

/// The root that was found in a walk.
#[derive(Clone, Debug)]
pub struct RecordedRoot {
    /// The address of its rules.
    pub rules: Hash,
    /// The key; empty if no rule gave one.
    pub key: Name,
    /// The root, as scripts read it.
    pub content: Content,
}

/// How a node with a policy passed.
#[derive(Clone, Debug)]
pub struct PassedNode {
    /// The decision of its gate, if it has one.
    pub review: Option<Content>,
    /// The answer of the attempt before the one that passed, if there was one.
    pub previous: Option<Content>,
}

/// The state of a walk.
#[derive(Clone, Debug)]
pub struct WalkState {
    /// The node to continue at; absent before the first step and after the last.
    pub node: Option<Name>,
    pub status: WalkStatus,
    /// The failure: kind and message.
    pub error: Option<(String, String)>,
    /// Steps completed. The next step's number is one more.
    pub steps: u64,
    /// The nodes entered, in order.
    pub path: Vec<Name>,
    /// The transitions so far.
    pub history: Vec<Visit>,
    /// The counters incremented; one that is 0 is absent.
    pub loops: BTreeMap<String, i64>,
    /// Context added by edges, later keys winning.
    pub context: Map<String, Value>,
    /// The latest artifact's confidence.
    pub confidence: Option<f64>,
    /// The walker of the last step, in a walk with a team.
    pub walker: Option<Name>,
    /// Changes of walker so far; those of earlier walks of the same node, in a subpipeline.
    pub handoffs: i64,
    /// The changes of walker within subpipelines, by their node.
    pub handoffs_within: BTreeMap<Name, i64>,
    /// The symbolic ids bound by effects.
    pub bindings: BTreeMap<String, i64>,
    /// The latest artifact of each node visited.
    pub prior: BTreeMap<Name, Content>,
    /// The verdict of the case, once it is made.
    pub verdict: Option<RecordedVerdict>,
    /// The root of the case, once it is found.
    pub root: Option<RecordedRoot>,
    /// How often each node was completed.
    pub visits: BTreeMap<Name, usize>,
    /// When the first step began.
    pub started_at: Option<Timestamp>,
    /// The revision of the texts that the last step used; the run begins with 1.
    pub revision: u64,
    /// The total duration of answers, those of inner walks included, in milliseconds.
    pub spent_ms: u64,
    /// The number of answers, those of inner walks included.
    pub answers: u64,
    /// The token usage of answers, those of inner walks included.
    pub tokens: TokenUsage,
    /// The tokens of each walker, in a walk with a team.
    pub spent: BTreeMap<Name, u64>,
    /// The external requests of the step in progress, in order; see [`WalkState::waits`].
    pub open_requests: Vec<OpenRequest>,
    /// The attempts at the step in progress that did not pass.
    pub attempts: Vec<FailedAttempt>,
    /// The answer of the step in progress, while answerers review it.
    pub answered: Option<Box<ReviewedStep>>,
    /// The nodes with a policy that passed.
    pub passed: BTreeMap<Name, PassedNode>,
    /// The nodes that failed, or were skipped, while the walk continued.
    pub failed: BTreeMap<Name, FailedNode>,
    /// Whether it was over and was reopened.
    pub reopened: bool,
    /// The path prefix of the steps of an inner walk (`3/court/`); empty for a case's own walk.
    pub place: Name,
    /// The walks in progress in place of the current node: a sub-pipeline, or the branches in order.
    pub inner: Vec<Self>,
    /// Set for a branch, which is over after its only step.
    pub origin: Option<Box<BranchOrigin>>,
    /// Added to the visit count of a node within a branch, so that branches which take the same node do not take the same visit
    /// of it.
    pub offset: usize,
    /// The number of commits of this walk so far, inner walks included.
    pub ticks: u64,
    /// The advisories that fired at the current node.
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
            handoffs_within: BTreeMap::new(),
            bindings: BTreeMap::new(),
            prior: BTreeMap::new(),
            verdict: None,
            root: None,
            visits: BTreeMap::new(),
            started_at: None,
            revision: FIRST,
            spent_ms: 0,
            answers: 0,
            tokens: TokenUsage::default(),
            spent: BTreeMap::new(),
            open_requests: Vec::new(),
            attempts: Vec::new(),
            answered: None,
            passed: BTreeMap::new(),
            failed: BTreeMap::new(),
            reopened: false,
            place: Name::default(),
            inner: Vec::new(),
            origin: None,
            offset: 0,
            ticks: 0,
            advice: Vec::new(),
            views: StateViews::default(),
        }
    }
}

impl WalkState {
    /// The rules of verdict and root that failed in this case, and counted as silent.
    pub fn failed_rules(&self) -> Vec<FailedRule> {
        let contents = self.verdict.iter().map(|made| &made.content).chain(self.root.iter().map(|made| &made.content));
        let failed = contents.filter_map(|content| content.view()?.get("failed"));
        let one = |rule: &View| {
            let text = |name: &str| rule.get(name).and_then(|value| value.as_str().map(ToOwned::to_owned)).unwrap_or_default();
            FailedRule { id: text("id").into(), at: text("at").into(), error: text("error") }
        };
        failed.flat_map(|list| list.items().iter().map(one).collect::<Vec<_>>()).collect()
    }

    /// Folds events from the beginning of a walk.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// The path of the next step, or of the one in progress.
    pub fn next_path(&self) -> Name {
        compact_str::format_compact!("{}{}", self.place, self.steps + 1)
    }

    /// The innermost walk that is in progress.
    pub fn ongoing(&self) -> &Self {
        self.inner.iter().find(|inner| !inner.is_over()).map_or(self, |inner| inner.ongoing())
    }

    /// When the step in progress began, if anything of it is recorded.
    pub(super) fn begun(&self) -> Option<Timestamp> {
        self.answered.as_ref().map(|answered| answered.at).or(self.open_requests.first().map(|open| open.at))
    }

    /// Whether it is done or failed.
    pub fn is_over(&self) -> bool {
        matches!(self.status, WalkStatus::Done | WalkStatus::Error)
    }

    /// Whether it is a branch forked for this.
    pub(super) fn is_by(&self, by: BranchKind) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.by == by)
    }

    /// The path prefix up to the innermost branch that it is in; empty outside branches.
    pub(super) fn branch(&self) -> &str {
        let Some(at) = self.place.rfind(BRANCH) else { return "" };
        let end = self.place[at..].find(']').map_or(self.place.len(), |end| at + end + 1);
        &self.place[..end]
    }

    /// The open request that the walk waits for, if any.
    pub fn waits(&self) -> Option<&OpenRequest> {
        if self.is_over() { None } else { self.inner.iter().find_map(Self::waits).or(self.open_requests.last()) }
    }

    pub fn last_artifact(&self) -> Option<&Content> {
        self.path.last().and_then(|node| self.prior.get(node))
    }

    /// The artifact of the node that walked the subpipeline `plan`: by its `result:`, else the last artifact of this walk.
    pub fn result(&self, plan: &Plan) -> Result<Value, Failure> {
        let Some(function) = &plan.result else {
            return Ok(self.last_artifact().and_then(|last| last.view().map(View::json)).unwrap_or_default());
        };
        let error = self.error.as_ref().filter(|_| self.status == WalkStatus::Error);
        let error = error.map(|(kind, message)| json!({ "kind": kind, "message": message }));
        let seen = json!({ "context": self.context, "error": error, "node": self.path.last() });
        function.value(&[&View::of(&seen, &Kind::Any, "walk"), plan.vars()]).map_err(Failure::script)
    }

    /// The initial state of an inner walk at a node: it inherits what this walk has seen. Its counters and context are its own.
    #[must_use]
    pub fn within(&self, node: &Name, path: &Name) -> Self {
        let own = compact_str::format_compact!("{node}/");
        let earlier = |(name, visits): (&Name, &usize)| Some((Name::from(name.strip_prefix(own.as_str())?), *visits));
        let mut inner = Self::with(self.loops.clone(), self.context.clone(), Vec::new());
        inner.place = compact_str::format_compact!("{path}/{node}/");
        inner.handoffs = self.handoffs_within.get(node).copied().unwrap_or(0);
        inner.confidence = self.confidence;
        inner.bindings.clone_from(&self.bindings);
        inner.prior.clone_from(&self.prior);
        inner.verdict.clone_from(&self.verdict);
        inner.root.clone_from(&self.root);
        inner.visits = self.visits.iter().filter_map(earlier).collect();
        inner.revision = self.revision;
        inner.offset = self.offset;
        inner
    }

    /// Merges a finished inner walk: its artifacts, visits and bindings.
    pub(super) fn after(&mut self, node: &Name, inner: Self) {
        let own = |name: &Name| compact_str::format_compact!("{node}/{name}");
        self.handoffs_within.insert(node.clone(), inner.handoffs);
        for name in &inner.path {
            if let Some(artifact) = inner.prior.get(name) {
                self.prior.insert(own(name), artifact.clone());
            }
        }
        self.visits.extend(inner.visits.iter().map(|(name, visits)| (own(name), *visits)));
        self.bindings.extend(inner.bindings);
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) {
        if let EventBody::NodeExit { took_ms, .. } = &event.what {
            self.spent_ms += took_ms;
            self.answers += 1;
        }
        // What is under review is counted when it passes or fails.
        if !matches!(event.what, EventBody::Answered { .. })
            && let Some(tokens) = event.what.agent().and_then(|agent| agent.tokens.as_ref())
        {
            self.tokens.add(tokens);
            if let Some(walker) = &self.walker {
                *self.spent.entry(walker.clone()).or_default() += tokens.total();
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
            // The revision is of the case, whichever branch recorded it.
            if let EventBody::Upgraded { revision, .. } = &event.what {
                self.revision = *revision;
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
                    branches if branches.iter().any(|branch| branch.origin.is_some()) => self.merge_items(&branches),
                    subpipelines => {
                        for subpipeline in subpipelines {
                            self.after(node, subpipeline);
                        }
                        1
                    }
                };
                self.open_requests.clear();
                self.answered = None;
                self.confidence = confidence.or(self.confidence);
                self.bindings.extend(bindings.iter().map(|(name, id)| (name.clone(), *id)));
                self.prior.insert(node.clone(), artifact.clone());
                *self.visits.entry(node.clone()).or_default() += own;
                self.steps += 1;
            }
            EventBody::EdgeEvaluate { considered, .. } => {
                let advisories_fired = considered.iter().filter(|entry| entry.outcome == EdgeOutcome::Advisory);
                self.advice.extend(advisories_fired.map(|entry| (entry.edge.clone(), entry.because.clone().unwrap_or_default())));
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
                if let Some(origin) = &mut self.origin {
                    origin.leads(to, context);
                    self.status = WalkStatus::Done;
                }
            }
            EventBody::Upgraded { revision, .. } => self.revision = *revision,
            EventBody::Verdict { rules, verdict, needs, .. } => {
                self.verdict = Some(RecordedVerdict { rules: *rules, content: verdict.clone(), needs: needs.clone() });
            }
            EventBody::Root { rules, key, root, .. } => {
                self.root = Some(RecordedRoot { rules: *rules, key: key.clone(), content: root.clone() });
            }
            EventBody::WalkerSwitch { from, to, .. } => {
                self.handoffs += i64::from(from.is_some());
                self.walker = Some(to.clone());
            }
            EventBody::Requested { .. } | EventBody::Rejected { .. } => OpenRequest::take(&mut self.open_requests, event),
            EventBody::Reopened { node, .. } => {
                self.status = WalkStatus::Running;
                self.node = Some(node.clone());
                self.error = None;
                self.open_requests.clear();
                self.attempts.clear();
                self.answered = None;
                self.inner.clear();
                self.reopened = true;
            }
            EventBody::StepRetry { reason, message, output, review, .. } => {
                OpenRequest::take(&mut self.open_requests, event);
                self.answered = None;
                self.attempts.push(FailedAttempt {
                    reason: reason.clone(),
                    message: message.clone(),
                    output: output.clone(),
                    review: review.clone(),
                });
            }
            EventBody::StepComplete { node, review, .. } => {
                let previous = std::mem::take(&mut self.attempts).pop().and_then(|last| last.output);
                self.passed.insert(node.clone(), PassedNode { review: review.clone(), previous });
            }
            EventBody::StepError { node, reason, kind, message, review, .. } => {
                let (reason, kind, message) = (reason.clone(), kind.clone(), message.clone());
                let failed = FailedNode { reason, kind, message, review: review.clone() };
                self.failed.insert(node.clone(), failed);
            }
            EventBody::StepSkipped { node, because } => {
                self.failed.insert(node.clone(), FailedNode::skipped(because));
            }
            EventBody::Answered { artifact, by, took_ms, agent, .. } => {
                OpenRequest::take(&mut self.open_requests, event);
                let (artifact, by, agent) = (artifact.clone(), by.clone(), agent.clone());
                let answered = ReviewedStep { artifact, by, took_ms: *took_ms, agent, at: event.at, reviews: Vec::new() };
                self.answered = Some(Box::new(answered));
            }
            EventBody::AdvisorReview { review, .. } => {
                OpenRequest::take(&mut self.open_requests, event);
                if let (Some(answered), Some(review)) = (&mut self.answered, review) {
                    answered.reviews.push(AdvisorReview::clone(review));
                }
            }
            EventBody::Unanswered { .. }
            | EventBody::StepStart { .. }
            | EventBody::StepAttempt { .. }
            | EventBody::CacheHit { .. }
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
                self.open_requests.clear();
                self.attempts.clear();
                self.answered = None;
                self.status = WalkStatus::Error;
                self.node = Some(node.clone());
                self.error = Some((kind.clone(), message.clone()));
            }
        }
    }

    /// A state with these counters, context and history, for `route`.
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

/// Whether the event occurs exactly once in each commit of a step: an answer, the beginning of a sub-pipeline or of branches, or
/// a join.
fn is_one_of_a_commit(what: &EventBody) -> bool {
    matches!(
        what,
        EventBody::NodeExit { .. }
            | EventBody::SubWalk { .. }
            | EventBody::Join { .. }
            | EventBody::Fork { by: BranchKind::Items | BranchKind::Waves, .. }
    )
}
