//! What a report says of one case.

use super::finding::CaseFinding;
use crate::session::ErrorSummary;
use crate::walk::WalkStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CaseReport {
    /// Its id.
    pub case: String,
    /// The test's name.
    pub name: String,
    /// What the test stands in.
    pub suite: String,
    /// How its walk ended.
    pub status: WalkStatus,
    /// Its status in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_status: Option<String>,
    /// What was found.
    pub finding: CaseFinding,
    /// The path it took, by node codes where there are any.
    pub path: Vec<String>,
    /// The rule that chose each turn, and why.
    pub turns: Vec<ReportTransition>,
    /// The counters taken.
    pub loops: BTreeMap<String, i64>,
    /// What edges added to the walk's context.
    pub context: Map<String, Value>,
    /// Why its walk failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSummary>,
    /// What could not be written of it, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One turn of a walk.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportTransition {
    /// The node left.
    pub node: String,
    /// The edge taken.
    pub edge: String,
    /// What people call that edge; empty if it has no name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The node it led to; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why.
    pub because: String,
    /// What advisories said there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<String>,
}
