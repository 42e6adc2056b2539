//! The outcome of considering an edge.

use serde::{Deserialize, Serialize};

/// The outcome of considering an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeOutcome {
    /// It was taken (or, a guard, overrode the choice of the node's edges).
    Fired,
    /// Its condition did not hold.
    False,
    /// Its rule threw.
    Error,
    /// An advisory whose condition held: its context was added.
    Advisory,
    /// An earlier edge fired first.
    NotReached,
}

impl EdgeOutcome {
    /// Its word on the wire and in pages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::False => "false",
            Self::Error => "error",
            Self::Advisory => "advisory",
            Self::NotReached => "not_reached",
        }
    }
}
