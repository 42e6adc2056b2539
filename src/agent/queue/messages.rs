//! What a queue tells and is told.

use serde::Serialize;
use serde_json::Value;

/// What a worker is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    /// The request's id.
    pub dispatch_id: i64,
    /// What shows that a step was given to whoever has it; only with it is an answer taken.
    pub ticket: String,
    /// The case.
    pub case_id: String,
    /// What signals call the step (`F0_RECALL`).
    pub step: String,
    /// The node.
    pub node: String,
    /// The step's path.
    pub path: String,
    /// The prompt.
    pub prompt: String,
}

/// What came of asking for a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullResult {
    /// One, and what whoever gets it should know about how many are at work.
    Task(Box<Task>, Option<String>),
    /// There are none any more.
    Over(QueueClosed),
}

/// Why no steps are given out any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueClosed {
    /// The run is over.
    Over,
    /// The run was stopped.
    Cancelled,
    /// Something went wrong.
    Aborted(String),
}

/// An answer that is brought.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedArtifact {
    /// The artifact.
    pub artifact: Value,
    /// The tokens of prompt and answer, as far as the worker says them.
    pub tokens: (Option<u64>, Option<u64>),
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitOutcome {
    /// It is taken and recorded.
    Accepted,
    /// It does not fit: what is wrong with it, and the step to be answered again by the same worker, unless that was its last attempt.
    Refused(Vec<String>, Option<Box<Task>>),
    /// The run ended before it was recorded.
    Lost(QueueClosed),
}

/// Why an answer is not even looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// Nobody is asked that.
    #[error("no step with the id {0} waits for an answer")]
    Unknown(i64),
    /// It was answered before.
    #[error("the step {0} is answered already")]
    AlreadySubmitted(i64),
    /// Somebody else has it.
    #[error("the step {0} is with another worker: its ticket is needed")]
    NotYours(i64),
    /// Fewer work at once than was asked for.
    #[error("no answer is taken before {0} workers have asked for a step at once; {1} are at work")]
    Gate(usize, usize),
    /// Something went wrong with the run.
    #[error("the run was aborted: {0}")]
    Aborted(String),
}

/// How a worker does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerHealth {
    /// Its name.
    pub worker: String,
    /// `waiting` for a step, `working` on one, or `idle`.
    pub state: &'static str,
    /// Steps that it has.
    pub holding: usize,
    /// Steps that it got.
    pub pulled: usize,
    /// Answers of it that were accepted.
    pub accepted: usize,
    /// Answers of it that were refused.
    pub refused: usize,
    /// Steps that were taken from it, for it did not answer in time.
    pub lost: usize,
    /// Seconds since it was heard of.
    pub silent_seconds: u64,
}

/// What happened to a step that the walk waits for.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent) enum StepNews {
    /// Somebody answered.
    Brought(SubmittedArtifact),
    /// This worker did not answer in time; the step is with nobody.
    Late(String),
    /// Nobody will.
    Closed(QueueClosed),
}
