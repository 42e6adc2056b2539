//! Attempts at a step that did not pass, and nodes that failed or were skipped.

use super::agent::Agent;
use super::answer::NodeAnswer;
use super::content::Content;
use super::gate::AdvisorReview;
use super::name::Name;
use crate::clock::Timestamp;
use crate::script::View;
use std::sync::Arc;

/// An attempt at the step in progress that did not pass.
#[derive(Clone, Debug)]
pub struct FailedAttempt {
    /// Why: `rejection`, `timeout`, `invalid_output`.
    pub reason: Name,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The answer, if there was one.
    pub output: Option<Content>,
    /// The decision of the gate, if it was asked.
    pub review: Option<Content>,
}

/// The answer of the step in progress that answerers review.
#[derive(Clone, Debug)]
pub struct AnsweredStep {
    /// The answer, before masks.
    pub artifact: Content,
    pub by: Name,
    /// In milliseconds.
    pub took_ms: u64,
    pub agent: Option<Box<Agent>>,
    /// When the step began.
    pub at: Timestamp,
    /// The reviews of answerers so far.
    pub reviews: Vec<AdvisorReview>,
}

impl AnsweredStep {
    /// The answer as it was given.
    pub(super) fn reply(&self) -> NodeAnswer {
        let artifact = self.artifact.view().map(View::json).unwrap_or_default();
        NodeAnswer { agent: self.agent.clone(), ..NodeAnswer::own(Arc::new(artifact), kind(&self.by), false) }
    }
}

/// The kind of answerer of a record.
fn kind(by: &str) -> &'static str {
    ["script", "stub", "agent", "human", "cache", "tool"].into_iter().find(|kind| *kind == by).unwrap_or("agent")
}

/// A node that came to nothing while the walk went on.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedNode {
    /// Why: `exhausted_retries`, `advisor_reject`, `timeout`, `invalid_output`, `skipped`, or the kind of the failure.
    pub reason: Name,
    /// The kind of the failure; empty for a node that was skipped.
    pub kind: Name,
    pub message: String,
    /// The decision of the gate, if it was asked.
    pub review: Option<Content>,
}

impl FailedNode {
    /// A node that is not taken because another came to nothing.
    pub(super) fn skipped(because: &Name) -> Self {
        let message = format!("`{because}` came to nothing");
        Self { reason: "skipped".into(), kind: Name::default(), message, review: None }
    }
}
