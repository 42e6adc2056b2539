//! What came of considering an edge.

use serde::{Deserialize, Serialize};

/// What came of considering an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeOutcome {
    /// It was taken (or, of a guard, overrode the node's own choice).
    Fired,
    /// Its condition did not hold.
    False,
    /// Its rule threw.
    Error,
    /// It is an advisory whose condition held: its context was added.
    Advisory,
    /// An earlier edge fired first.
    NotReached,
}

impl EdgeOutcome {
    /// Its word, as programs have it too.
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
