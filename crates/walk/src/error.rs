//! Failures of a walk.

use asterisk_diag::{Code, Diagnostic};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kinds of failure, with the same words everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No edge of a node without a fallback fired.
    NoEdge,
    /// The walk exceeded the pipeline's step cap.
    MaxSteps,
    /// A target is not a node, or none that the edge declares.
    NodeNotFound,
    /// A script threw, or returned a value that its role does not allow.
    RuleError,
    /// The node was not answered.
    AgentError,
    /// The answer violates the node's schema.
    Schema,
    /// A limit was exceeded.
    Limit,
    Cancelled,
    /// Branches lead to different nodes.
    FanOutMerge,
    /// The gate of a node rejected its answer.
    Rejected,
}

impl FailureKind {
    /// Its word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoEdge => "no_edge",
            Self::MaxSteps => "max_steps",
            Self::NodeNotFound => "node_not_found",
            Self::RuleError => "rule_error",
            Self::AgentError => "agent_error",
            Self::Schema => "schema",
            Self::Limit => "limit",
            Self::Cancelled => "cancelled",
            Self::FanOutMerge => "fan_out_merge",
            Self::Rejected => "rejected",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a walk stopped.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    /// What is wrong, where, and what to do.
    pub diagnostic: Box<Diagnostic>,
}

impl Failure {
    pub fn new(kind: FailureKind, diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { kind, diagnostic: diagnostic.into() }
    }

    /// An answerer's failure.
    pub fn answer(diagnostic: Box<Diagnostic>) -> Self {
        let kind = match diagnostic.known() {
            Some(Code::ScriptLimit | Code::ScriptDeadline | Code::AgentDeadline) => FailureKind::Limit,
            Some(Code::WalkSchema | Code::WalkReview) => FailureKind::Schema,
            _ => FailureKind::AgentError,
        };
        Self { kind, diagnostic }
    }

    /// Whether it is the answerer's: it gave no answer, or none that is valid. A script that throws is not.
    pub fn is_unanswered(&self) -> bool {
        self.diagnostic.code.starts_with("agent/") || self.kind == FailureKind::Schema
    }

    /// A script's failure; exceeded limits become [`FailureKind::Limit`].
    pub fn script(diagnostic: Box<Diagnostic>) -> Self {
        let limit = matches!(diagnostic.known(), Some(Code::ScriptLimit | Code::ScriptDeadline));
        Self { kind: if limit { FailureKind::Limit } else { FailureKind::RuleError }, diagnostic }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.diagnostic)
    }
}

impl std::error::Error for Failure {}
