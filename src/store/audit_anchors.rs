//! The heads of auditors' logs, as the journal has them.

use super::error::StoreError;
use super::open::Store;
use rusqlite::params;

/// The head of a log at a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAnchor {
    /// The run.
    pub run: String,
    /// How many entries the log had.
    pub entries: u64,
    /// The hash of the last one.
    pub head: String,
}

impl Store {
    /// The anchors of a log, in the order in which they were committed.
    pub fn audit_anchors(&self, log: &str) -> Result<Vec<AuditAnchor>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT runs.name, entries, head FROM audit_anchors a JOIN runs ON runs.id = a.run WHERE log = ?1 ORDER BY stamp",
            )?;
            let anchor = |row: &rusqlite::Row<'_>| {
                let entries: i64 = row.get(1)?;
                Ok(AuditAnchor { run: row.get(0)?, entries: entries.unsigned_abs(), head: row.get(2)? })
            };
            Ok(rows.query_map(params![log], anchor)?.collect::<Result<_, _>>()?)
        })
    }

    /// The runs of a pipeline that have no anchor in a log, oldest first.
    pub fn unanchored_runs(&self, pipeline: &str, log: &str) -> Result<Vec<String>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT name FROM runs WHERE pipeline = ?1 AND cleaned_at IS NULL \
                 AND id NOT IN (SELECT run FROM audit_anchors WHERE log = ?2) ORDER BY id",
            )?;
            Ok(rows.query_map(params![pipeline, log], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}
