//! The events of a journal: what happened, to whom, where in the walk, when.

use super::agent::Agent;
use super::branch::{Branch, BranchKind};
use super::content::Content;
use super::event_kind::EventKind;
use super::name::{Name, Reason};
use super::outcome::EdgeOutcome;
use crate::clock::Timestamp;
use crate::model::{Effect, Hash};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One event. The journal numbers it (`seq`) when it takes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The case it is about; empty for events of the run itself.
    pub case: Name,
    /// The step's hierarchical path (`3`, `3/court/1`, `4/branch[2]/1`); empty outside steps. Steps count from 1.
    pub path: Name,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub what: EventBody,
}

/// What happened. `type` on the wire is the variant's name in `snake_case`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// Of the run itself: a phase of a wave begins. Every case has come as far as it may before; what the run committed up to
    /// here is seen from now on.
    Barrier {
        /// The wave, from 1.
        wave: u32,
        /// The phase, from 1.
        phase: u32,
        /// 1 for the representatives of clusters and the cases that are like no other; 2 for those that wait for them.
        turn: u32,
        /// The clusters of the phase, at its first turn: `[{key, cases}]`, the representative first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clusters: Option<Content>,
    },
    /// Of the run itself: its texts were exchanged. Steps that began before go by those of before.
    Reload {
        /// Counts the texts of the run; those it began with are generation 1.
        generation: u64,
        /// The address of the list of all texts of the project, with the vars in force.
        manifest: Hash,
        /// Why.
        cause: ReloadCause,
        /// What is other than in the generation before.
        changed: Vec<TextChange>,
    },
    /// From this step on a case goes by other texts.
    Adopt {
        /// Which.
        generation: u64,
        /// The address of the list of them.
        manifest: Hash,
    },
    /// The next step is another walker's than the step before, or the first of a team.
    WalkerSwitch {
        /// Who took the step before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Name>,
        /// Who takes this one and those that follow.
        to: Name,
        /// Why.
        because: Reason,
        /// What the scheduler's reads found, if it declares any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs: Option<Content>,
    },
    /// A walk came to a node.
    NodeEnter {
        /// The node.
        node: Name,
    },
    /// A node is walked: what follows has paths that begin with this step's and the node's name (`3/court/1`), up to the
    /// node's exit with the last artifact of that walk.
    SubWalk {
        /// The node.
        node: Name,
        /// The name of the pipeline that is walked as the node.
        pipeline: Name,
    },
    /// Branches are walked beside each other: what follows has paths that begin with the number of the next step and the
    /// branch's (`4/branch[2]/1`), up to the exit of the node whose items they are for, or until they join.
    Fork {
        /// What makes them.
        by: BranchKind,
        /// The node whose items they are for, or that the edges lead from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Name>,
        /// The branches, in their order.
        branches: Vec<Branch>,
    },
    /// Branches have come together, and the walk goes on as one.
    Join {
        /// Where they lead: a node, or the pipeline's done name; nothing where the nodes that wait for them come next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Name>,
    },
    /// A branch failed, and is left out.
    BranchError {
        /// What the paths of its steps begin with (`4/branch[2]/`).
        branch: Name,
        /// Where.
        node: Name,
        /// The error's kind.
        kind: String,
        /// What is wrong.
        message: String,
    },
    /// Somebody outside of the process is asked for the artifact of the step's node. Recorded before anything leaves the process; the
    /// step's other events follow when the answer is there.
    Asked {
        /// The request's id: unique in the run, and the same whenever the same is asked again.
        id: i64,
        /// The node.
        node: Name,
        /// Who is asked.
        via: Name,
        /// The address of the prompt's text, without complaints about earlier answers.
        prompt: Hash,
        /// What the prompt is made of: the address of its parameters.
        params: Content,
        /// And its template, if the node has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<Hash>,
        /// The tool that is called with its arguments, if the node is a tool's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Content>,
    },
    /// What came back was not accepted: whoever was asked is told, and asked again.
    Complained {
        /// The request.
        id: i64,
        /// Who was asked.
        via: Name,
        /// What is wrong with the answer.
        complaints: Vec<String>,
    },
    /// Nothing came back: an attempt failed. The request stays open.
    Unanswered {
        /// The request.
        id: i64,
        /// Who was asked.
        via: Name,
        /// Why.
        message: String,
    },
    /// Somebody has the walk, which was over, go on at a node.
    Reopened {
        /// The node.
        node: Name,
        /// Who: `human`.
        by: Name,
    },
    /// Masks were on a step.
    Masked {
        /// The node.
        node: Name,
        /// Their scripts, the outermost first.
        masks: Vec<Name>,
        /// The artifact as it was before they changed it, if they did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Content>,
    },
    /// A node has its artifact.
    NodeExit {
        /// The node.
        node: Name,
        /// The artifact's address.
        artifact: Content,
        /// Who decided: `script`, `stub`, `agent`, `human`; `walk` if the node was walked.
        by: Name,
        /// What the answerer saw: the address of its parameters, if it was given any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        params: Option<Content>,
        /// The prompt's template, if the node has one (with `params` it is the prompt).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<Hash>,
        /// How long it took, from the beginning of the step, in milliseconds; nothing for a node that was walked: its steps count.
        #[serde(default, skip_serializing_if = "is_zero")]
        took_ms: u64,
        /// Who was asked outside of the process, and what it took.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Box<Agent>>,
        /// The artifact's confidence, if the node names the field that holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
        /// What the step writes to the store.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<Effect<i64>>,
        /// The symbolic ids bound by those effects.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        bindings: BTreeMap<String, i64>,
    },
    /// With this step the answers of the case took as long as its pipeline wants to be told of.
    ThermalWarning {
        /// How long all of them took so far, in milliseconds.
        spent_ms: u64,
        /// From how much on it is told.
        warning_ms: u64,
        /// From how much on the case takes no further step, if there is an end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ceiling_ms: Option<u64>,
    },
    /// The edges of a node were evaluated: a decision with everything it saw, by content.
    EdgeEvaluate {
        /// The node.
        node: Name,
        /// The artifact's address.
        artifact: Content,
        /// The state's address.
        state: Content,
        /// The vars' address.
        vars: Content,
        /// Every edge considered, in the order considered.
        considered: Vec<ConsideredEdge>,
    },
    /// What candidate rules would have decided at the decision before this: for comparison, without any effect on the walk
    /// (`run --shadow`).
    Shadow {
        /// The node.
        node: Name,
        /// The edge they take, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge: Option<Name>,
        /// Where it goes: a node, or the pipeline's done name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Name>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<Reason>,
        /// Why they take none, if that would have failed the walk: its kind and message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Whether the walk went on otherwise: by another edge, to another node, or not at all.
        differs: bool,
        /// Every edge considered, in the order considered.
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
        /// The counter that taking the edge added one to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counter: Option<Name>,
        /// What the edge and the advisories added to the walk's context.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        context: Map<String, Value>,
    },
    /// The walk is over.
    WalkComplete {
        /// The last node.
        node: Name,
    },
    /// The walk failed.
    WalkError {
        /// Where.
        node: Name,
        /// The error's kind (`no_edge`, `rule_error`, ...).
        kind: String,
        /// What is wrong.
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
            Self::Asked { params, call, .. } => [Some(params), call.as_ref(), None],
            Self::Masked { answer, .. } => [answer.as_ref(), None, None],
            Self::Barrier { clusters, .. } => [clusters.as_ref(), None, None],
            _ => [None, None, None],
        };
        found.into_iter().flatten()
    }

    /// Its kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Barrier { .. } => EventKind::Barrier,
            Self::Reload { .. } => EventKind::Reload,
            Self::Adopt { .. } => EventKind::Adopt,
            Self::WalkerSwitch { .. } => EventKind::WalkerSwitch,
            Self::Asked { .. } => EventKind::Asked,
            Self::Complained { .. } => EventKind::Complained,
            Self::Unanswered { .. } => EventKind::Unanswered,
            Self::Reopened { .. } => EventKind::Reopened,
            Self::Masked { .. } => EventKind::Masked,
            Self::NodeEnter { .. } => EventKind::NodeEnter,
            Self::SubWalk { .. } => EventKind::SubWalk,
            Self::Fork { .. } => EventKind::Fork,
            Self::Join { .. } => EventKind::Join,
            Self::BranchError { .. } => EventKind::BranchError,
            Self::NodeExit { .. } => EventKind::NodeExit,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The number of the texts that a run began with.
pub const FIRST: u64 = 1;

/// Why the texts of a run were exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReloadCause {
    /// Somebody edited them while the run went on (`run --watch`).
    Edit,
    /// The run was resumed by the texts of that time (`run --resume RUN --migrate`).
    Migrate,
}

/// A text or setting that is other than it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TextChange {
    /// The text, by its path with the area it belongs to (`scripts/rules/rca.rhai`, `data/personas.yaml`), or the setting
    /// (`vars.recall_hit`).
    pub what: String,
    /// The address of what it was; absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hash>,
    /// The address of what it is; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hash>,
}

/// One edge as a decision considered it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsideredEdge {
    /// The edge's id, or `fallback`.
    pub edge: Name,
    /// What came of it.
    pub outcome: EdgeOutcome,
    /// Why, where it fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Reason>,
    /// What went wrong, where it threw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The content address of the script that decided, with its imports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Hash>,
}
