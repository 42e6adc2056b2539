//! The part of a report about one case.

use super::finding::CaseFinding;
use asterisk_session::ErrorSummary;
use asterisk_walk::WalkStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A case of the report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaseReport {
    /// Id of the case.
    pub case: String,
    /// Name of the test.
    pub name: String,
    /// Suite of the test.
    pub suite: String,
    /// Status of its walk.
    pub status: WalkStatus,
    /// Status in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_status: Option<String>,
    /// The finding.
    pub finding: CaseFinding,
    /// Path of the walk, by node codes where there are any.
    pub path: Vec<String>,
    /// The transitions with the rules that chose them, and why.
    pub turns: Vec<ReportTransition>,
    /// Final loop counters.
    pub loops: BTreeMap<String, i64>,
    /// Context added by edges.
    pub context: Map<String, Value>,
    /// Error that ended the walk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSummary>,
    /// Files of the case that could not be written, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A transition of a walk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportTransition {
    /// The node left.
    pub node: String,
    /// The edge taken.
    pub edge: String,
    /// Display name of the edge; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The node entered; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Explanation of the decision.
    pub because: String,
    /// Messages of advisories at that decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<String>,
}
