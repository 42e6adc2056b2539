//! The manifest of a batch (`batch-manifest.json`): requests that many may answer at once, and how far each is.

use super::run_dir::RunDir;
use crate::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;

/// The name of its file.
pub const MANIFEST: &str = "batch-manifest.json";
/// The name of the file of what all of a batch may want to know.
pub const BRIEFING: &str = "briefing.md";
/// The most bytes of a manifest that are read.
const MOST: usize = 4 << 20;

/// How far a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchStatus {
    /// Nobody has begun.
    Pending,
    /// Somebody has.
    InProgress,
    /// Every request is answered.
    Done,
    /// It is over, and a request failed (`decisions.md` 21).
    Error,
}

/// How far a request of a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// Nobody has taken it.
    Pending,
    /// Somebody has.
    Claimed,
    /// It is answered.
    Done,
    /// There is no answer.
    Error,
}

/// A request of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// The case.
    pub case_id: String,
    /// Where its signal is.
    pub signal_path: String,
    /// How far it is.
    pub status: EntryStatus,
}

/// A batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchManifest {
    /// Its number in the run, from 1.
    pub batch_id: u64,
    /// How far it is.
    pub status: BatchStatus,
    /// The phase of the run, by its name in the pipeline or that of its last node; `single` if requests go out one by one.
    pub phase: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was written last.
    pub updated_at: Timestamp,
    /// How many requests it has.
    pub total: usize,
    /// Where the briefing is; empty without one.
    pub briefing_path: String,
    /// The requests.
    pub signals: Vec<ManifestEntry>,
}

impl BatchManifest {
    /// A batch that nobody has begun.
    pub fn new(batch_id: u64, phase: &str, now: Timestamp, briefing_path: String, signals: Vec<ManifestEntry>) -> Self {
        let (status, total) = (BatchStatus::Pending, signals.len());
        Self { batch_id, status, phase: phase.to_owned(), created_at: now, updated_at: now, total, briefing_path, signals }
    }

    /// The manifest in a directory.
    pub fn read(tray: &dyn RunDir) -> io::Result<Self> {
        let text = tray.read(MANIFEST, MOST)?.ok_or(io::ErrorKind::NotFound)?;
        serde_json::from_slice(&text).map_err(io::Error::from)
    }

    /// Writes it.
    pub fn write(&self, tray: &dyn RunDir) -> io::Result<()> {
        tray.write(MANIFEST, &(serde_json::to_string_pretty(self).unwrap_or_default() + "\n"))
    }

    /// Notes how far a request is, and so the batch.
    pub fn note(&mut self, index: usize, status: EntryStatus, now: Timestamp) {
        if let Some(entry) = self.signals.get_mut(index) {
            entry.status = status;
        }
        let all = |status: &[EntryStatus]| self.signals.iter().all(|entry| status.contains(&entry.status));
        self.status = match () {
            () if all(&[EntryStatus::Done]) => BatchStatus::Done,
            () if all(&[EntryStatus::Done, EntryStatus::Error]) => BatchStatus::Error,
            () if all(&[EntryStatus::Pending]) && self.status == BatchStatus::Pending => BatchStatus::Pending,
            () => BatchStatus::InProgress,
        };
        self.updated_at = now;
    }
}

/// How many requests a batch may have: `usual`, and half of that when more than four fifths of a budget are spent.
pub fn batch_size(usual: usize, percent_used: Option<f64>) -> usize {
    if percent_used.is_some_and(|percent| percent > 80.0) { usual.div_ceil(2) } else { usual }.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use EntryStatus::{Claimed, Done, Error, Pending};

    #[test]
    fn a_batch_is_as_far_as_its_requests() {
        let entry = |case: &str| ManifestEntry { case_id: case.into(), signal_path: String::new(), status: Pending };
        let after = |notes: &[(usize, EntryStatus)]| {
            let mut manifest = BatchManifest::new(1, "triage", Timestamp::default(), String::new(), vec![entry("a"), entry("b")]);
            for (index, status) in notes {
                manifest.note(*index, *status, Timestamp::default());
            }
            manifest.status
        };
        assert_eq!(after(&[]), BatchStatus::Pending);
        assert_eq!(after(&[(0, Claimed)]), BatchStatus::InProgress);
        assert_eq!(after(&[(0, Claimed), (0, Pending)]), BatchStatus::InProgress);
        assert_eq!(after(&[(0, Done), (1, Done)]), BatchStatus::Done);
        assert_eq!(after(&[(0, Done), (1, Error)]), BatchStatus::Error);
    }

    #[test]
    fn batches_are_smaller_when_little_is_left() {
        assert_eq!((batch_size(4, None), batch_size(4, Some(80.0)), batch_size(4, Some(80.1))), (4, 4, 2));
        assert_eq!((batch_size(1, Some(99.0)), batch_size(0, None)), (1, 1));
    }
}
