//! Looking a store over without changing it.

use super::bad_content::BadContent;
use super::connection::inspect;
use super::content;
use super::error::StoreError;
use super::lease::Lease;
use super::{migrations, read};
use rusqlite::ErrorCode;
use std::path::Path;

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHealth {
    /// The size of the file and its log in bytes.
    pub bytes: u64,
    /// The version of its format.
    pub version: i64,
    /// The newest version that this program knows.
    pub newest: i64,
    /// What `SQLite` finds wrong with the file; at most a few complaints.
    pub trouble: Vec<String>,
    /// Of a thorough look: how many contents there are, and which of them are damaged or missing.
    pub contents: Option<(u64, Vec<BadContent>)>,
    /// Of a thorough look: how many events there are, and what is wrong with those that are damaged.
    pub events: Option<(u64, Vec<String>)>,
    /// Files beside the store that processes left behind which were killed.
    pub left: usize,
    /// How many runs it has.
    pub runs: i64,
    /// Whether another process is writing at this moment.
    pub busy: bool,
}

/// How thoroughly a store is looked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Its format, and that its pages hang together. Indices are not compared with their tables, so this takes time in proportion to
    /// the size of the file.
    Pages,
    /// Also that indices and tables agree, and that every content is what its address says.
    Contents,
}

/// Looks a store over.
pub fn health(path: &Path, depth: Depth) -> Result<StoreHealth, StoreError> {
    let conn = inspect(path)?;
    let bytes = ["", "-wal"].iter().map(|ending| {
        let mut whole = path.as_os_str().to_owned();
        whole.push(ending);
        std::fs::metadata(whole).map_or(0, |meta| meta.len())
    });
    let version = migrations::version(&conn)?;
    let check = if depth == Depth::Pages { "PRAGMA quick_check(5)" } else { "PRAGMA integrity_check(20)" };
    let mut statement = conn.prepare(check)?;
    let found = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>();
    let mut trouble = match found.map_err(StoreError::from) {
        Ok(lines) => lines,
        // Some damage ends the check itself.
        Err(error) if error.is_damage() => vec![error.to_string()],
        Err(error) => return Err(error),
    };
    trouble.retain(|line| line != "ok");
    let contents = match depth {
        Depth::Pages => None,
        Depth::Contents => {
            let mut bad = Vec::new();
            match content::verify(&conn, |one| bad.push(one)) {
                Ok(count) => Some((count, bad)),
                Err(error) if error.is_damage() => {
                    trouble.push(error.to_string());
                    Some((0, bad))
                }
                Err(error) => return Err(error),
            }
        }
    };
    let events = match depth {
        Depth::Pages => None,
        Depth::Contents => match read::verify(&conn) {
            Ok(found) => Some(found),
            Err(error) if error.is_damage() => {
                trouble.push(error.to_string());
                None
            }
            // Of an older format.
            Err(_) => None,
        },
    };
    let runs = conn.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap_or(0);
    let busy = match conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Ok(()) => false,
        Err(error) => matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)),
    };
    Ok(StoreHealth {
        bytes: bytes.sum(),
        version,
        newest: migrations::newest(migrations::STEPS),
        trouble,
        contents,
        events,
        left: Lease::left_behind(path).len(),
        runs,
        busy,
    })
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
        assert!(health(&path, Depth::Pages).is_err() && !path.exists());
        drop(Store::open(&path, Durability::Step).unwrap());
        let found = health(&path, Depth::Pages).unwrap();
        assert_eq!((found.version, found.trouble.len(), found.runs, found.busy), (found.newest, 0, 0, false));
        assert!(found.bytes > 4096);
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(health(&path, Depth::Pages).unwrap().busy);
        std::fs::write(dir.path().join("b.db"), "not a database, but long enough to be looked at as one").unwrap();
        assert!(matches!(health(&dir.path().join("b.db"), Depth::Pages), Err(StoreError::NotAStore(_))));
    }

    #[test]
    fn damage_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        drop(Store::open(&path, Durability::Step).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4096 * 3..4096 * 4].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        assert!(!health(&path, Depth::Pages).is_ok_and(|found| found.trouble.is_empty()));
    }
}
