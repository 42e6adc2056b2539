//! Event log of a run for its clients: append-only, with the oldest entries dropped.

use asterisk_base::clock::Timestamp;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Number of entries kept.
const MAX_ENTRIES: usize = 10_000;

/// An event of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ServeSignal {
    /// Index, from 0.
    pub(super) index: usize,
    /// Time of the event.
    pub(super) at: Timestamp,
    /// Kind of event.
    pub(super) event: String,
    /// Source; `server` is this program.
    pub(super) agent: String,
    /// The case it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) case_id: Option<String>,
    /// The step it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<String>,
    /// Additional details.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) meta: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
pub(super) struct Signals {
    kept: VecDeque<ServeSignal>,
    total: usize,
}

impl Signals {
    /// Appends an event and returns its index.
    pub(super) fn add(&mut self, mut signal: ServeSignal) -> usize {
        signal.index = self.total;
        self.total += 1;
        if self.kept.len() == MAX_ENTRIES {
            self.kept.pop_front();
        }
        self.kept.push_back(signal);
        self.total - 1
    }

    /// The kept events from an index on, and the total number of events.
    pub(super) fn since(&self, index: i64) -> (Vec<ServeSignal>, usize) {
        let from = usize::try_from(index).unwrap_or(0);
        (self.kept.iter().filter(|signal| signal.index >= from).cloned().collect(), self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_from_an_index_on() {
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
        for _ in 0..MAX_ENTRIES {
            signals.add(signal("z"));
        }
        let (kept, total) = signals.since(0);
        assert_eq!((kept.len(), kept[0].index, total), (MAX_ENTRIES, 2, MAX_ENTRIES + 2));
    }
}
