//! What surrounds the answer of a node, linked: its task, timeout, retries, cache and gate, each with where it is from.

use super::content::Content;
use super::gate::GatePlan;
use super::name::Name;
use super::sourced::Sourced;
use asterisk_base::model::Hash;
use asterisk_pipeline::{RetryReason, TaskPart};
use asterisk_prompt::Template;
use serde_json::Value;
use std::sync::Arc;

/// What surrounds the answer of a node.
#[derive(Clone, Debug)]
pub struct StepPolicy {
    /// The category; `default` without one.
    pub category: Name,
    /// The agent: its name, or the node's family.
    pub agent: Name,
    /// What an answer of the agent depends on in addition to its inputs: its declared version and the address of its script.
    pub version: Hash,
    /// What the agent's script may read, as paths (`params.stages`); `None` if nothing answers but others.
    pub reads: Option<Vec<Box<str>>>,
    pub task: Option<TaskPlan>,
    /// In seconds.
    pub timeout: Sourced<f64>,
    /// How often it is answered again.
    pub max_retries: Sourced<u64>,
    /// The wait before the first repetition, in milliseconds; each further one waits twice as long.
    pub backoff_ms: u64,
    /// What it is answered again for.
    pub on: Vec<RetryReason>,
    pub cache: Sourced<bool>,
    pub gate: Option<GatePlan>,
    /// The nodes that it waits for, directly or not, whose results it sees.
    pub sees: Vec<Name>,
}

/// How the text of a task is made.
#[derive(Clone, Debug)]
pub enum TaskPlan {
    /// Names between braces are filled in, once.
    Parts(Vec<TaskPart>),
    /// A template.
    Template(Arc<Template>),
}

/// The policy of a whole pipeline.
#[derive(Clone, Debug)]
pub struct PolicyPlan {
    /// Values that tasks may read.
    pub memory: Content,
    pub budget: PolicyBudget,
    /// Whether the first node that fails ends the walk.
    pub fail_fast: bool,
    /// All current settings, by path.
    pub settings: Vec<(String, Sourced<Value>)>,
}

/// The most that a walk may take; what is compared after each node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyBudget {
    pub max_stages: Option<Sourced<u64>>,
    pub max_artifacts_bytes: Option<Sourced<u64>>,
    pub max_runtime_sec: Option<Sourced<f64>>,
    pub max_tokens: Option<Sourced<u64>>,
    /// In dollars.
    pub max_cost: Option<Sourced<f64>>,
}

impl StepPolicy {
    /// Whether a failed attempt is followed by another, after `attempts` so far.
    pub fn repeats(&self, reason: RetryReason, attempts: usize) -> bool {
        self.on.contains(&reason) && u64::try_from(attempts).is_ok_and(|attempts| attempts <= self.max_retries.value)
    }
}
