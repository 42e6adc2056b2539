//! How a walk fails.

use crate::diag::Diagnostic;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kinds of failure, the same words everywhere (`design.md` §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No edge of the node fired, and it has no fallback.
    NoEdge,
    /// The walk took more steps than the pipeline allows.
    MaxSteps,
    /// A target names no node, or none that the edge may choose.
    NodeNotFound,
    /// A script threw or returned what its role may not return.
    RuleError,
    /// Nobody answered the node.
    AgentError,
    /// The answer does not fit the node's schema.
    Schema,
    /// A limit was exceeded.
    Limit,
    /// The walk was cancelled.
    Cancelled,
    /// Branches do not lead to one node.
    FanOutMerge,
}

impl FailureKind {
    /// The word on the wire.
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
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a walk stopped where it did.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What is wrong, where, and what to do.
    pub diagnostic: Box<Diagnostic>,
}

impl Failure {
    /// A failure of that kind.
    pub fn new(kind: FailureKind, diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { kind, diagnostic: diagnostic.into() }
    }

    /// A script's failure; a limit that it ran into is a [`FailureKind::Limit`].
    pub fn script(diagnostic: Box<Diagnostic>) -> Self {
        let limit = matches!(diagnostic.code.as_ref(), "script/limit" | "script/deadline");
        Self { kind: if limit { FailureKind::Limit } else { FailureKind::RuleError }, diagnostic }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.diagnostic)
    }
}

impl std::error::Error for Failure {}
