//! Attempts at a step that did not pass, and nodes that failed or were skipped.

use super::agent::Agent;
use super::content::Content;
use super::name::Name;
use super::review::AdvisorReview;
use asterisk_base::clock::Timestamp;

/// An attempt at the step in progress that did not pass.
#[derive(Clone, Debug)]
pub struct FailedAttempt {
    /// Why: `advisor_reject`, `timeout`, `invalid_output`.
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
pub struct ReviewedStep {
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

/// A node that failed while the walk continued.
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
    /// A node that is not taken because another failed.
    pub(super) fn skipped(because: &Name) -> Self {
        let message = format!("`{because}` failed");
        Self { reason: "skipped".into(), kind: Name::default(), message, review: None }
    }
}
