//! Health check of a store, without changing it.

use super::bad_content::BadContent;
use super::connection::inspect;
use super::content;
use super::error::StoreError;
use super::lease::FileLease;
use super::{migrations, outcomes, read};
use std::path::Path;

/// Result of a health check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHealth {
    /// Size of the file and its log in bytes.
    pub bytes: u64,
    /// Format version of the file.
    pub version: i64,
    /// Newest format version known to this program.
    pub newest: i64,
    /// Faults that `SQLite` reports for the file; at most a few.
    pub trouble: Vec<String>,
    /// With [`Depth::Contents`]: the number of contents, and those that are damaged or missing.
    pub contents: Option<(u64, Vec<BadContent>)>,
    /// With [`Depth::Contents`]: the number of events, and a description of each damaged one.
    pub events: Option<(u64, Vec<String>)>,
    /// Number of lease files left behind by killed processes.
    pub left: usize,
    /// Number of runs.
    pub runs: i64,
    /// Whether another process is writing at the time of the check.
    pub busy: bool,
}

/// How thorough a health check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Checks the format and the structure of the pages. Indices are not compared with their tables; the time is proportional to the size
    /// of the file.
    Pages,
    /// Also checks that indices agree with tables, and every content against its address.
    Contents,
}

/// Checks the health of a store.
pub fn health(path: &Path, depth: Depth) -> Result<StoreHealth, StoreError> {
    let conn = inspect(path)?;
    let bytes = ["", "-wal"].iter().map(|ending| {
        let mut whole = path.as_os_str().to_owned();
        whole.push(ending);
        std::fs::metadata(whole).map_or(0, |meta| meta.len())
    });
    let version = conn.file().map_or(Ok(0), migrations::version)?;
    let check = if depth == Depth::Pages { "PRAGMA quick_check(5)" } else { "PRAGMA integrity_check(20)" };
    let mut statement = conn.prepare(check)?;
    let found = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>();
    let mut trouble = match found.map_err(StoreError::from) {
        Ok(lines) => lines,
        // Some damage makes the integrity check itself fail.
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
            // A store of an older format.
            Err(_) => None,
        },
    };
    if depth == Depth::Contents {
        // A store of an older format has none.
        trouble.extend(outcomes::damaged_outcomes(&conn).unwrap_or_default());
    }
    let runs = conn.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap_or(0);
    let busy = match conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Ok(()) => false,
        Err(error) => StoreError::from(error).is_busy(),
    };
    Ok(StoreHealth {
        bytes: bytes.sum(),
        version,
        newest: migrations::newest(migrations::STEPS),
        trouble,
        contents,
        events,
        left: FileLease::left_behind(path).len(),
        runs,
        busy,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Durability, Store};

    #[test]
    fn a_health_check_changes_nothing() {
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
