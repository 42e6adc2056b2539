//! The events of the journal.

use super::agent::Agent;
use super::branch::{Branch, BranchKind};
use super::content::Content;
use super::event_kind::EventKind;
use super::name::{Name, Reason};
use super::outcome::EdgeOutcome;
use super::review::AdvisorReview;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Effect, Hash};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An event. The journal assigns its sequence number (`seq`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The case; empty for events of the run itself.
    pub case: Name,
    /// The step's hierarchical path (`3`, `3/court/1`, `4/branch[2]/1`), counted from 1; empty outside steps.
    pub path: Name,
    pub at: Timestamp,
    #[serde(flatten)]
    pub what: EventBody,
}

/// The kinds of events with their data. `type` on the wire is the variant's name in `snake_case`, or the name that an earlier version wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A run event: a phase of a wave begins, and every case has come as far as it may before. Queries see what the run committed
    /// up to here.
    Barrier {
        /// The wave, from 1.
        wave: u32,
        /// The phase, from 1.
        phase: u32,
        /// The turn within the phase: 1 for representatives of clusters and unclustered cases, 2 for other members of clusters.
        turn: u32,
        /// The clusters of the phase, in its first turn: `[{key, cases}]`, the representative first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clusters: Option<Content>,
    },
    /// A run event: the texts were reloaded. Steps that have begun continue with the previous revision.
    Reload {
        /// The revision; the run begins with 1.
        #[serde(rename = "generation")]
        revision: u64,
        /// The address of the manifest: all texts of the project and the current vars.
        manifest: Hash,
        cause: ReloadCause,
        /// What differs from the previous revision.
        changed: Vec<TextChange>,
    },
    /// From this step on, the case uses another revision of the texts.
    #[serde(rename = "adopt")]
    Upgraded {
        /// The revision.
        #[serde(rename = "generation")]
        revision: u64,
        /// The address of its manifest.
        manifest: Hash,
    },
    /// The next step has another walker than the step before, or is the first of a team.
    WalkerSwitch {
        /// The node of the step.
        node: Name,
        /// The walker of the step before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Name>,
        /// The walker of this step and those that follow.
        to: Name,
        because: Reason,
        /// The results of the scheduler's queries, if it declares any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs: Option<Content>,
    },
    /// A walk entered a node.
    NodeEnter { node: Name },
    /// A node begins to walk its sub-pipeline: the paths of the following events begin with this step's and the node's name
    /// (`3/court/1`), up to the node's exit with the last artifact of that walk.
    SubWalk {
        node: Name,
        /// The name of the sub-pipeline.
        pipeline: Name,
    },
    /// Branches are forked: the paths of the following events begin with the number of the next step and the branch's
    /// (`4/branch[2]/1`), up to the exit of the `foreach` node, or until they join.
    Fork {
        by: BranchKind,
        /// The `foreach` node, or the node that the edges leave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Name>,
        /// The branches, in order.
        branches: Vec<Branch>,
    },
    /// The branches have joined, and the walk continues as one.
    Join {
        /// The node they lead to, or the pipeline's done name; `None` where dependent nodes are next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Name>,
    },
    /// A branch failed and is left out.
    BranchError {
        /// The path prefix of its steps (`4/branch[2]/`).
        branch: Name,
        node: Name,
        /// The error's kind.
        kind: String,
        /// The error's message.
        message: String,
    },
    /// The artifact of the step's node is requested from an external answerer. Committed before anything leaves the process; the
    /// step's other events follow with the answer.
    #[serde(rename = "asked")]
    Requested {
        /// The request's id: unique in the run, and the same for a repeated request.
        id: i64,
        node: Name,
        /// The advisor, if a review of the node's answer is requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        advisor: Option<Name>,
        /// The answerer.
        via: Name,
        /// The address of the prompt's text, without validation errors of earlier answers.
        prompt: Hash,
        /// The address of the prompt's parameters.
        params: Content,
        /// The prompt's template, if the node has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<Hash>,
        /// The tool call with its arguments, for a node with a tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Content>,
    },
    /// An answer was rejected; its validation errors are reported to the answerer, and the request is repeated.
    #[serde(rename = "complained")]
    Rejected {
        /// The request.
        id: i64,
        /// The answerer.
        via: Name,
        /// The validation errors.
        #[serde(rename = "complaints")]
        errors: Vec<String>,
    },
    /// An attempt failed without an answer. The request stays open.
    Unanswered {
        /// The request.
        id: i64,
        /// The answerer.
        via: Name,
        /// The error's message.
        message: String,
    },
    /// A finished walk was reopened at a node.
    Reopened {
        node: Name,
        /// By whom: `human`.
        by: Name,
    },
    /// Masks were applied to a step.
    Masked {
        node: Name,
        /// Their scripts, outermost first.
        masks: Vec<Name>,
        /// The artifact before the masks, if they changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Content>,
    },
    /// The verdict of the case was made, for the parameters of the step; made again only where its rules have changed.
    Verdict {
        node: Name,
        /// The address of the rules.
        rules: Hash,
        /// The defect.
        defect: Name,
        /// The probability of the most probable defect.
        probability: f64,
        /// The whole verdict, as scripts read it.
        verdict: Content,
        /// The results of the queries that the rules read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs: Option<Content>,
    },
    /// The root of the case was found, after its verdict; found again only where its rules have changed.
    Root {
        node: Name,
        /// The address of the rules.
        rules: Hash,
        /// The rule that gave the key; empty if none did.
        #[serde(default, skip_serializing_if = "Name::is_empty")]
        rule: Name,
        /// The key; empty if no rule gave one.
        #[serde(default, skip_serializing_if = "Name::is_empty")]
        key: Name,
        /// The whole root, as scripts read it.
        root: Content,
    },
    /// A node has its artifact.
    NodeExit {
        node: Name,
        artifact: Content,
        /// Who answered: `script`, `stub`, `agent`, `human`; `walk` for a sub-pipeline.
        by: Name,
        /// The answerer's parameters, if it read any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        params: Option<Content>,
        /// The prompt's template, if the node has one; rendered with `params` it is the prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<Hash>,
        /// The duration from the beginning of the step, in milliseconds; 0 for a sub-pipeline, whose steps have their own.
        #[serde(default, skip_serializing_if = "is_zero")]
        took_ms: u64,
        /// The external answerer, with its token usage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<Agent>>,
        /// The artifact's confidence, if the node names the field that holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
        /// What the step writes to the store.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<Effect<i64>>,
        /// The symbolic ids bound by the effects.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        bindings: BTreeMap<String, i64>,
    },
    /// A node with a policy begins to be answered.
    StepStart {
        node: Name,
        agent: Name,
        category: Name,
        /// The advisors of its gate.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        advisors: Vec<Name>,
        /// How often it may be answered again.
        max_retries: u64,
    },
    /// An attempt at its answer begins.
    StepAttempt {
        node: Name,
        /// The attempt, from 1.
        attempt: u64,
        max_retries: u64,
    },
    /// Its answer was taken from the cache.
    CacheHit { node: Name, agent: Name },
    /// It was answered, and reviews are requested. Committed at once, so that it is not answered again after a resume.
    Answered {
        node: Name,
        /// The answer, before masks.
        artifact: Content,
        by: Name,
        /// The duration of the answer, in milliseconds.
        #[serde(default, skip_serializing_if = "is_zero")]
        took_ms: u64,
        /// The external answerer, with its token usage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<Agent>>,
    },
    /// An advisor reviewed its answer. The review of an answerer is committed at once.
    AdvisorReview {
        node: Name,
        attempt: u64,
        advisor: Name,
        score: f64,
        approved: bool,
        /// The whole review, if an answerer gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<Box<AdvisorReview>>,
        /// The answerer, if it is external, with its token usage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<Agent>>,
    },
    /// An attempt did not pass, and another follows. Committed at once.
    StepRetry {
        node: Name,
        attempt: u64,
        /// Why: `advisor_reject`, `timeout`, `invalid_output`.
        reason: Name,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<f64>,
        /// The answer, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Content>,
        /// The decision of the gate, if it was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<Content>,
        /// The external answerer of the answer, with its token usage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<Agent>>,
    },
    /// A node with a policy was answered, and its answer passed.
    StepComplete {
        node: Name,
        attempts: u64,
        approved: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<f64>,
        /// The decision of the gate, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<Content>,
        /// The duration of the reviews, in milliseconds.
        #[serde(default, skip_serializing_if = "is_zero")]
        advisor_ms: u64,
        /// The address under which the answer is cached, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Hash>,
    },
    /// A node with a policy failed: no attempt passed.
    #[serde(rename = "error")]
    StepError {
        node: Name,
        /// Why: `exhausted_retries`, `advisor_reject`, `timeout`, `invalid_output`, or the kind of the failure.
        reason: Name,
        /// The kind of the failure.
        kind: Name,
        attempts: u64,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<Content>,
        /// The external answerer of the last answer, with its token usage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<Agent>>,
    },
    /// A node is not taken, because one that it waits for failed.
    StepSkipped {
        node: Name,
        /// The node that it waits for.
        because: Name,
    },
    /// With this step, the case's answers exceeded the warning threshold of its pipeline's `thermal:`.
    ThermalWarning {
        /// The total so far, in milliseconds.
        spent_ms: u64,
        /// The warning threshold, in milliseconds.
        warning_ms: u64,
        /// The limit beyond which the case takes no further step, in milliseconds, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ceiling_ms: Option<u64>,
    },
    /// The edges of a node were evaluated. Holds every input of the decision by content address.
    EdgeEvaluate {
        node: Name,
        artifact: Content,
        state: Content,
        vars: Content,
        /// The edges, in the order considered.
        considered: Vec<ConsideredEdge>,
    },
    /// What candidate rules would have decided at the previous decision; for comparison, without effect on the walk (`run
    /// --shadow`).
    Shadow {
        node: Name,
        /// The edge they take, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Name>,
        /// The target: a node, or the pipeline's done name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Name>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Reason>,
        /// Of a shadow of a verdict: the defect that they name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Name>,
        /// The failure, if they would have failed the walk: kind and message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Whether the live decision differs: another edge, another node, or none.
        differs: bool,
        /// The edges, in the order considered.
        considered: Vec<ConsideredEdge>,
    },
    /// The walk moved on.
    Transition {
        /// The node left.
        from: Name,
        /// The node entered, or the pipeline's done name.
        to: Name,
        /// The edge taken; `fallback` for a node's fallback.
        edge: Name,
        /// Why.
        because: Reason,
        /// The counter incremented by the edge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counter: Option<Name>,
        /// Context added by the edge and the advisories.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        context: Map<String, Value>,
    },
    /// The walk is done.
    WalkComplete {
        /// The last node.
        node: Name,
    },
    /// The walk failed.
    WalkError {
        node: Name,
        /// The error's kind (`no_edge`, `rule_error`, ...).
        kind: String,
        /// The error's message.
        message: String,
    },
}

impl EventBody {
    /// The content that the event refers to.
    pub fn contents(&self) -> impl Iterator<Item = &Content> {
        let found: [Option<&Content>; 3] = match self {
            Self::NodeExit { artifact, params, .. } => [Some(artifact), params.as_ref(), None],
            Self::EdgeEvaluate { artifact, state, vars, .. } => [Some(artifact), Some(state), Some(vars)],
            Self::WalkerSwitch { needs, .. } => [needs.as_ref(), None, None],
            Self::Root { root, .. } => [Some(root), None, None],
            Self::Verdict { verdict, needs, .. } => [Some(verdict), needs.as_ref(), None],
            Self::Requested { params, call, .. } => [Some(params), call.as_ref(), None],
            Self::Masked { answer, .. } => [answer.as_ref(), None, None],
            Self::Answered { artifact, .. } => [Some(artifact), None, None],
            Self::Barrier { clusters, .. } => [clusters.as_ref(), None, None],
            Self::StepRetry { output, review, .. } => [output.as_ref(), review.as_ref(), None],
            Self::StepComplete { review, .. } | Self::StepError { review, .. } => [review.as_ref(), None, None],
            _ => [None, None, None],
        };
        found.into_iter().flatten()
    }

    /// The external answerer whose answer or review the event records.
    pub fn agent(&self) -> Option<&Agent> {
        match self {
            Self::NodeExit { agent, .. }
            | Self::Answered { agent, .. }
            | Self::AdvisorReview { agent, .. }
            | Self::StepRetry { agent, .. }
            | Self::StepError { agent, .. } => agent.as_deref(),
            _ => None,
        }
    }

    pub fn kind(&self) -> EventKind {
        match self {
            Self::Barrier { .. } => EventKind::Barrier,
            Self::Reload { .. } => EventKind::Reload,
            Self::Upgraded { .. } => EventKind::Upgraded,
            Self::WalkerSwitch { .. } => EventKind::WalkerSwitch,
            Self::Requested { .. } => EventKind::Requested,
            Self::Rejected { .. } => EventKind::Rejected,
            Self::Unanswered { .. } => EventKind::Unanswered,
            Self::Reopened { .. } => EventKind::Reopened,
            Self::Masked { .. } => EventKind::Masked,
            Self::Verdict { .. } => EventKind::Verdict,
            Self::Root { .. } => EventKind::Root,
            Self::NodeEnter { .. } => EventKind::NodeEnter,
            Self::SubWalk { .. } => EventKind::SubWalk,
            Self::Fork { .. } => EventKind::Fork,
            Self::Join { .. } => EventKind::Join,
            Self::BranchError { .. } => EventKind::BranchError,
            Self::NodeExit { .. } => EventKind::NodeExit,
            Self::StepStart { .. } => EventKind::StepStart,
            Self::StepAttempt { .. } => EventKind::StepAttempt,
            Self::CacheHit { .. } => EventKind::CacheHit,
            Self::Answered { .. } => EventKind::Answered,
            Self::AdvisorReview { .. } => EventKind::AdvisorReview,
            Self::StepRetry { .. } => EventKind::StepRetry,
            Self::StepComplete { .. } => EventKind::StepComplete,
            Self::StepError { .. } => EventKind::StepError,
            Self::StepSkipped { .. } => EventKind::StepSkipped,
            Self::ThermalWarning { .. } => EventKind::ThermalWarning,
            Self::EdgeEvaluate { .. } => EventKind::EdgeEvaluate,
            Self::Shadow { .. } => EventKind::Shadow,
            Self::Transition { .. } => EventKind::Transition,
            Self::WalkComplete { .. } => EventKind::WalkComplete,
            Self::WalkError { .. } => EventKind::WalkError,
        }
    }

    /// The name of its kind on the wire.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The revision that a run begins with.
pub const FIRST: u64 = 1;

/// Why the texts of a run were reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReloadCause {
    /// Edited during the run (`run --watch`).
    Edit,
    /// Resumed with the current texts (`run --resume RUN --migrate`).
    Migrate,
}

/// A text or setting that changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TextChange {
    /// The path of the text with its area (`scripts/rules/rca.rhai`, `data/personas.yaml`), or the setting (`vars.recall_hit`).
    pub what: String,
    /// The previous content; absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// The current content; absent if it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hash>,
}

/// An edge as a decision considered it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsideredEdge {
    /// The edge's id, or `fallback`.
    pub edge: Name,
    pub outcome: EdgeOutcome,
    /// Why it fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Reason>,
    /// The message, if its rule threw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The content address of the rule's script, with its imports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Hash>,
}
