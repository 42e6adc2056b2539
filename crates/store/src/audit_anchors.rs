//! The heads of auditors' logs, as the journal has them.

use super::error::StoreError;
use super::open::Store;
use crate::sql::params;

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
            let anchor = |row: &crate::sql::Row<'_>| {
                let entries: i64 = row.get(1)?;
                Ok(AuditAnchor { run: row.get(0)?, entries: entries.unsigned_abs(), head: row.get(2)? })
            };
            Ok(rows.query_map(params![log], anchor)?.collect::<Result<_, _>>()?)
        })
    }

    /// How many entries a log had at the last commit of a run that has an anchor in it.
    pub fn last_audit_anchor(&self, run: &str, log: &str) -> Result<Option<u64>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT MAX(entries) FROM audit_anchors WHERE run = (SELECT id FROM runs WHERE name = ?1) AND log = ?2",
            )?;
            let entries: Option<i64> = rows.query_row(params![run, log], |row| row.get(0))?;
            Ok(entries.map(i64::unsigned_abs))
        })
    }

    /// The runs of a pipeline without an anchor in a log, oldest first.
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
