//! Branches: what makes them, how each begins, and where it leads.

use super::name::{Name, Reason};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the item is called in the context of its branch.
pub const ITEM: &str = "item";

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

/// What makes a walk a branch, and where it leads.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchOrigin {
    /// What makes branches.
    pub by: BranchKind,
    /// Branches of a higher number wait for those of a lower.
    pub sequence: i64,
    /// Where it leads: a node, or the pipeline's done name.
    pub to: Option<Name>,
    /// What it added to the context.
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
