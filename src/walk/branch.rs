//! What begins a branch, and what its paths are called.

use super::event::{Name, Reason, place_of};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the names of branches begin with in paths, before their number and `]`.
pub const BRANCH: &str = "branch[";

/// What makes branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchKind {
    /// A node is taken for each item of a list (`foreach:`).
    Items,
    /// Several edges fired that are taken beside each other (`parallel:`).
    Edges,
    /// Nodes that wait for none any more (`after:`).
    Waves,
}

/// The beginning of a branch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The node that is taken.
    pub node: Name,
    /// The item: `state.context.item` within the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// Branches of the same number are walked beside each other, those of the next after them.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sequence: i64,
    /// The edge that leads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<Name>,
    /// Why it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Reason>,
    /// The counter that taking it added one to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Name>,
    /// What it added to the walk's context.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_first(sequence: &i64) -> bool {
    *sequence == 0
}

/// Whether the path is that of a step of a branch, and not of a walk in the place of its node.
pub fn is_branch(path: &str) -> bool {
    let place = place_of(path).trim_end_matches('/');
    place.rsplit_once('/').is_some_and(|(_, name)| name.starts_with(BRANCH))
}
