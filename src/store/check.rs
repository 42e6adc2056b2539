//! Looking a store over without changing it.

use super::connection::inspect;
use super::error::StoreError;
use super::migrations;
use rusqlite::ErrorCode;
use std::path::Path;

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The size of the file and its log in bytes.
    pub bytes: u64,
    /// The version of its format.
    pub version: i64,
    /// The newest version that this program knows.
    pub newest: i64,
    /// What `SQLite` finds wrong with the file; at most a few complaints.
    pub trouble: Vec<String>,
    /// How many runs it has.
    pub runs: i64,
    /// Whether another process is writing at this moment.
    pub busy: bool,
}

/// Looks a store over: its format, and that its pages hang together (indices are not compared with their tables, so this
/// takes time in proportion to the size of the file).
pub fn health(path: &Path) -> Result<Health, StoreError> {
    let conn = inspect(path)?;
    let bytes = ["", "-wal"].iter().map(|ending| {
        let mut whole = path.as_os_str().to_owned();
        whole.push(ending);
        std::fs::metadata(whole).map_or(0, |meta| meta.len())
    });
    let version = migrations::version(&conn)?;
    let mut statement = conn.prepare("PRAGMA quick_check(5)")?;
    let trouble = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let trouble = trouble.into_iter().filter(|line| line != "ok").collect();
    let runs = conn.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap_or(0);
    let busy = match conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Ok(()) => false,
        Err(error) => matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)),
    };
    Ok(Health { bytes: bytes.sum(), version, newest: migrations::newest(migrations::STEPS), trouble, runs, busy })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::{Durability, Store};

    #[test]
    fn a_store_is_looked_over_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        assert!(health(&path).is_err() && !path.exists());
        drop(Store::open(&path, Durability::Step).unwrap());
        let found = health(&path).unwrap();
        assert_eq!((found.version, found.trouble.len(), found.runs, found.busy), (found.newest, 0, 0, false));
        assert!(found.bytes > 4096);
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(health(&path).unwrap().busy);
        std::fs::write(dir.path().join("b.db"), "not a database, but long enough to be looked at as one").unwrap();
        assert!(matches!(health(&dir.path().join("b.db")), Err(StoreError::NotAStore(_))));
    }

    #[test]
    fn damage_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        drop(Store::open(&path, Durability::Step).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4096 * 3..4096 * 4].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        assert!(!health(&path).is_ok_and(|found| found.trouble.is_empty()));
    }
}
