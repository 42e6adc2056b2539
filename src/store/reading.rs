//! Reading many cases of a run one after the other, as their rows come: for what looks through all of history.

use super::content::content;
use super::error::StoreError;
use super::open::Store;
use super::runs::run_row;
use super::step::sum;
use crate::clock::Timestamp;
use crate::model::Hash;
use rusqlite::{Connection, params};

/// How much of the file is mapped into memory, in bytes: about the most that `SQLite` maps.
const MAPPED: i64 = 0x7fff_0000;

/// One state of the store, open to be read.
pub struct StoreReading<'c> {
    conn: &'c Connection,
    run: i64,
}

/// An event as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct StoredEvent<'r> {
    /// The step's path.
    pub path: &'r str,
    /// When.
    pub at: Timestamp,
    /// What happened, as JSON: an object whose first key is `type`.
    pub body: &'r str,
}

impl Store {
    /// Opens one state of the store, to read cases of a run.
    pub fn reading<T, E: From<StoreError>>(
        &self,
        run: &str,
        body: impl FnOnce(&StoreReading<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read(|conn| {
            // Content lies scattered over the file: mapping it saves a call of the system for each page.
            conn.pragma_update(None, "mmap_size", MAPPED)?;
            Ok(body(&StoreReading { conn, run: run_row(conn, run)? }))
        })?
    }
}

impl StoreReading<'_> {
    /// Shows the events of a case in order.
    pub fn events<E: From<StoreError>>(
        &self,
        case: &str,
        mut visit: impl FnMut(StoredEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = |error: rusqlite::Error| StoreError::from(error);
        let mut rows = self
            .conn
            .prepare_cached(
                "SELECT path, at, body, run, rc, sum, seq FROM events INDEXED BY events_case \
                 WHERE run = ?1 AND rc = (SELECT id FROM run_cases WHERE run = ?1 AND item = ?2) ORDER BY seq",
            )
            .map_err(sql)?;
        let mut rows = rows.query(params![self.run, case]).map_err(sql)?;
        while let Some(row) = rows.next().map_err(sql)? {
            let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
            let (path, at, body) = (text(0).map_err(sql)?, row.get(1).map_err(sql)?, text(2).map_err(sql)?);
            if let Some(recorded) = row.get::<_, Option<i64>>(5).map_err(sql)?
                && sum(row.get(3).map_err(sql)?, row.get(4).map_err(sql)?, path, at, body) != recorded
            {
                let seq: i64 = row.get(6).map_err(sql)?;
                return Err(StoreError::Damaged(format!("event {seq} of case `{case}` is not what was recorded")).into());
            }
            visit(StoredEvent { path, at: Timestamp::from_millis(at), body })?;
        }
        Ok(())
    }

    /// Looks at the content of an address, if it is stored.
    pub fn content<T>(&self, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<Option<T>, StoreError> {
        content(self.conn, hash, look)
    }
}
