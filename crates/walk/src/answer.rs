//! The result of answering a node: an answer, or a refusal.

use super::agent::Agent;
use asterisk_diag::Diagnostic;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The `by` of a node that is answered by walking its sub-pipeline.
pub const WALK: &str = "walk";

#[derive(Clone, Debug)]
pub struct NodeAnswer {
    pub artifact: Arc<Value>,
    /// The kind of answerer: `script`, `stub`, `agent`, `human`.
    pub by: &'static str,
    /// Whether the artifact is validated against the node's schema (not for stubs: `docs/decisions/0009-absent-fields-are-zero.md`).
    pub checked: bool,
    /// The external answerer and its token usage; `None` for answers from within the process.
    pub agent: Option<Box<Agent>>,
}

impl NodeAnswer {
    /// An answer from within the process.
    pub fn own(artifact: Arc<Value>, by: &'static str, checked: bool) -> Self {
        Self { artifact, by, checked, agent: None }
    }

    /// The artifact of a finished sub-pipeline or of merged branches.
    pub(super) fn walked(artifact: Value) -> Self {
        Self::own(artifact.into(), WALK, false)
    }
}

/// Why no answer is available, and what to do next.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What went wrong, or what is pending.
    pub diagnostic: Box<Diagnostic>,
    pub next: AfterRefusal,
}

/// What the walk does after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// Fails: a retry won't help.
    GiveUp,
    /// Retries, not before this time has passed.
    Retry(Option<Duration>),
    /// Not dispatched: the answerer's circuit breaker stays open for this long.
    Rest(Duration),
    /// Pauses: the answer is pending outside of the process, and the walk can be resumed.
    Wait,
}

impl Refusal {
    /// A permanent failure.
    pub fn failed(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::GiveUp }
    }

    /// A failure that a retry may fix.
    pub fn again(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::Retry(None) }
    }

    /// The answer is pending.
    pub fn wait(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::Wait }
    }
}
