//! What happens, for whoever asks: a list that only grows, of which the oldest are forgotten.

use crate::clock::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// How many are kept.
const KEPT: usize = 10_000;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ServeSignal {
    /// Counts from 0.
    pub(super) index: usize,
    /// When.
    pub(super) at: Timestamp,
    /// What.
    pub(super) event: String,
    /// Who says so; `server` is this program.
    pub(super) agent: String,
    /// The case it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) case_id: Option<String>,
    /// The step it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<String>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) meta: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
pub(super) struct Signals {
    kept: VecDeque<ServeSignal>,
    total: usize,
}

impl Signals {
    /// Adds one, and says which it is.
    pub(super) fn add(&mut self, mut signal: ServeSignal) -> usize {
        signal.index = self.total;
        self.total += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(signal);
        self.total - 1
    }

    /// Those from that index on, as far as they are kept, and how many there were in all.
    pub(super) fn since(&self, index: i64) -> (Vec<ServeSignal>, usize) {
        let from = usize::try_from(index).unwrap_or(0);
        (self.kept.iter().filter(|signal| signal.index >= from).cloned().collect(), self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_from_an_index_on() {
        let mut signals = Signals::default();
        let signal = |event: &str| ServeSignal {
            index: 0,
            at: Timestamp::default(),
            event: event.into(),
            agent: "a".into(),
            case_id: None,
            step: None,
            meta: BTreeMap::new(),
        };
        assert_eq!((signals.add(signal("x")), signals.add(signal("y"))), (0, 1));
        for (since, expected) in [(0, 2), (1, 1), (2, 0), (99, 0), (-3, 2)] {
            assert_eq!(signals.since(since).0.len(), expected, "{since}");
        }
        for _ in 0..KEPT {
            signals.add(signal("z"));
        }
        let (kept, total) = signals.since(0);
        assert_eq!((kept.len(), kept[0].index, total), (KEPT, 2, KEPT + 2));
    }
}
