//! The manifest of a batch (`batch-manifest.json`): its requests and their status.

use super::run_dir::RunDir;
use asterisk_base::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;

/// File name of the manifest.
pub const MANIFEST: &str = "batch-manifest.json";
/// File name of the briefing, which is common to all requests of a batch.
pub const BRIEFING: &str = "briefing.md";
/// Maximum size of a manifest, in bytes.
const MAX_FILE_BYTES: usize = 4 << 20;

/// Status of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchStatus {
    /// No request is claimed.
    Pending,
    /// Some request is claimed or answered.
    InProgress,
    /// Every request is answered.
    Done,
    /// The batch ended with a failed request.
    Error,
}

/// Status of a request in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// Not claimed.
    Pending,
    /// Claimed by a worker.
    Claimed,
    /// Answered.
    Done,
    /// Failed without an answer.
    Error,
}

/// A request in a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Id of the case.
    pub case_id: String,
    /// Path of its signal.
    pub signal_path: String,
    /// Status of the request.
    pub status: EntryStatus,
}

/// The manifest of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchManifest {
    /// Number of the batch in the run, from 1.
    pub batch_id: u64,
    /// Status of the batch.
    pub status: BatchStatus,
    /// Phase: its name in the pipeline, or that of its last node; `single` if requests are published one by one.
    pub phase: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last write.
    pub updated_at: Timestamp,
    /// Number of requests.
    pub total: usize,
    /// Path of the briefing; empty without one.
    pub briefing_path: String,
    /// The requests.
    pub signals: Vec<ManifestEntry>,
}

impl BatchManifest {
    /// A manifest without claims.
    pub fn new(batch_id: u64, phase: &str, now: Timestamp, briefing_path: String, signals: Vec<ManifestEntry>) -> Self {
        let (status, total) = (BatchStatus::Pending, signals.len());
        Self { batch_id, status, phase: phase.to_owned(), created_at: now, updated_at: now, total, briefing_path, signals }
    }

    /// Reads the manifest in a directory.
    pub fn read(run_dir: &dyn RunDir) -> io::Result<Self> {
        let text = run_dir.read(MANIFEST, MAX_FILE_BYTES)?.ok_or(io::ErrorKind::NotFound)?;
        serde_json::from_slice(&text).map_err(io::Error::from)
    }

    /// Writes the manifest.
    pub fn write(&self, run_dir: &dyn RunDir) -> io::Result<()> {
        run_dir.write(MANIFEST, &(serde_json::to_string_pretty(self).unwrap_or_default() + "\n"))
    }

    /// Updates the status of a request, and with it that of the batch.
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

/// Number of requests in a batch: `usual`, or half of it when more than 80 % of the budget are spent.
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
