//! What an answerer gives back: an answer, or why there is none.

use super::agent::Agent;
use crate::diag::Diagnostic;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Who answered a node that is a walk.
pub const WALK: &str = "walk";

/// An answer to a node.
#[derive(Clone, Debug)]
pub struct NodeAnswer {
    /// The artifact.
    pub artifact: Arc<Value>,
    /// Who decided: `script`, `stub`, `agent`, `human`.
    pub by: &'static str,
    /// Whether the node's schema is enforced on it (`decisions.md` 41: not for stubs).
    pub checked: bool,
    /// Who was asked outside of the process, and what it took; nothing of an answer from within.
    pub agent: Option<Box<Agent>>,
}

impl NodeAnswer {
    /// An answer from within the process.
    pub fn own(artifact: Arc<Value>, by: &'static str, checked: bool) -> Self {
        Self { artifact, by, checked, agent: None }
    }

    /// What came of a walk, or of branches, in the place of an answer.
    pub(super) fn walked(artifact: Value) -> Self {
        Self::own(artifact.into(), WALK, false)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What went wrong, or what is waited for.
    pub diagnostic: Box<Diagnostic>,
    /// What to do about it.
    pub next: AfterRefusal,
}

/// What comes after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// Asking again won't help.
    GiveUp,
    /// Asking again may help, but not before this time has passed, if there is one.
    Retry(Option<Duration>),
    /// Nobody was asked: whoever it is has failed so often that it is left alone for this long.
    Rest(Duration),
    /// No answer yet: the case waits for somebody outside, and the walk can be resumed.
    Wait,
}

impl Refusal {
    /// A refusal for good.
    pub fn failed(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::GiveUp }
    }

    /// A failure that asking again may mend.
    pub fn again(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::Retry(None) }
    }

    /// No answer yet.
    pub fn wait(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::Wait }
    }
}
