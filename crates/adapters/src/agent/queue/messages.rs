//! Messages between the queue, its workers and the walk.

use serde::Serialize;
use serde_json::Value;

/// A step for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Sequence number of the request.
    pub dispatch_id: i64,
    /// Id of the request in the journal.
    #[serde(skip)]
    pub request: i64,
    /// Token that proves ownership of the step; answers are accepted only with it.
    pub ticket: String,
    /// Id of the case.
    pub case_id: String,
    /// Name of the step in signals (`F0_RECALL`).
    pub step: String,
    /// Name of the node.
    pub node: String,
    /// Path of the step.
    pub path: String,
    /// The prompt.
    pub prompt: String,
}

/// A request for a step, repeated after its answer was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Dispatch {
    /// Sequence number of the request.
    pub(in crate::agent) id: i64,
    /// Id of the request in the journal.
    pub(in crate::agent) request: i64,
    /// The prompt.
    pub(in crate::agent) prompt: String,
}

/// Result of pulling a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullResult {
    /// A step, and a warning if fewer workers are active than requested.
    Task(Box<Task>, Option<String>),
    /// The queue is closed.
    Over(QueueClosed),
}

/// Why the queue is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueClosed {
    /// The run is finished.
    Over,
    /// The run was stopped.
    Cancelled,
    /// The run failed.
    Aborted(String),
}

/// A submitted answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedArtifact {
    /// The artifact.
    pub artifact: Value,
    /// Tokens of prompt and answer, if the worker reports them.
    pub tokens: (Option<u64>, Option<u64>),
}

/// Result of a submitted answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitOutcome {
    /// Accepted and recorded.
    Accepted,
    /// Invalid: the validation errors, and the step for another attempt by the same worker, unless that was its last.
    Refused(Vec<String>, Option<Box<Task>>),
    /// The run ended before the answer was recorded.
    Lost(QueueClosed),
}

/// Why an answer was rejected without validation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// No such request is pending.
    #[error("no step with the id {0} waits for an answer")]
    Unknown(i64),
    /// The request was answered before.
    #[error("the step {0} is already answered")]
    AlreadySubmitted(i64),
    /// The step is assigned to another worker.
    #[error("the step {0} belongs to another worker: its ticket is required")]
    NotYours(i64),
    /// Fewer workers are active than requested.
    #[error("no answer is accepted until {0} workers are active at once; {1} are active")]
    Gate(usize, usize),
    /// The run failed.
    #[error("the run was aborted: {0}")]
    Aborted(String),
}

/// Health of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerHealth {
    /// Name of the worker.
    pub worker: String,
    /// `waiting` for a step, `working` on one, or `idle`.
    pub state: &'static str,
    /// Steps currently assigned.
    pub holding: usize,
    /// Steps pulled in total.
    pub pulled: usize,
    /// Answers accepted.
    pub accepted: usize,
    /// Answers refused.
    pub refused: usize,
    /// Steps withdrawn because their lease expired.
    pub lost: usize,
    /// Seconds since the last contact.
    pub silent_seconds: u64,
}

/// Event of a step that the walk waits for.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent) enum StepEvent {
    /// An answer was submitted.
    Submitted(SubmittedArtifact),
    /// The lease of this worker expired; the step is unassigned.
    LeaseExpired(String),
    /// The node's timeout has passed.
    Overdue,
    /// The queue was closed.
    Closed(QueueClosed),
}
