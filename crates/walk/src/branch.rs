//! Branches: why they are forked, how each begins, and where it leads.

use super::name::{Name, Reason};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The context key of a branch's item.
pub const ITEM: &str = "item";

/// Why branches are forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchKind {
    /// One branch for each item of a list (`foreach:`).
    Items,
    /// Several `parallel:` edges fired.
    Edges,
    /// Nodes whose dependencies are all done (`after:`).
    Waves,
}

/// The start of a branch, as recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    pub node: Name,
    /// The item: `state.context.item` within the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// Branches with the same number are walked concurrently, those with a higher number after them.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sequence: i64,
    /// The edge that leads to the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<Name>,
    /// Why the edge was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Reason>,
    /// The counter incremented by taking the edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Name>,
    /// Context added by the edge.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_first(sequence: &i64) -> bool {
    *sequence == 0
}

/// What a walk that is a branch was forked for, and where it leads.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchOrigin {
    pub by: BranchKind,
    /// Branches with a higher number wait for those with a lower one.
    pub sequence: i64,
    /// The node it leads to, or the pipeline's done name.
    pub to: Option<Name>,
    /// Context added by the branch.
    pub added: Map<String, Value>,
}

impl BranchOrigin {
    pub(super) fn new(by: BranchKind, sequence: i64) -> Self {
        Self { by, sequence, to: None, added: Map::new() }
    }

    pub(super) fn leads(&mut self, to: &Name, added: &Map<String, Value>) {
        self.to = Some(to.clone());
        self.added.extend(added.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
}
