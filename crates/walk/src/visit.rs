//! One transition of a walk, as its state remembers it.

use super::name::{Name, Reason};
use asterisk_base::clock::Timestamp;
use asterisk_script::View;
use compact_str::ToCompactString as _;

/// A past transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// The node that was left.
    pub node: Name,
    pub edge: Name,
    pub because: Reason,
    /// The advisories that fired, each with its reason.
    pub advisories: Vec<(Name, Reason)>,
    pub at: Timestamp,
}

impl Visit {
    /// The transition as rules see it: an entry of `state.history`.
    pub(super) fn view(&self) -> View {
        let edge = View::from(&*self.edge);
        View::object(
            "visit",
            [
                ("at", View::from(self.at.to_compact_string().as_str())),
                ("edge", edge.clone()),
                ("node", View::from(&*self.node)),
                ("outcome", edge),
            ],
        )
    }
}
