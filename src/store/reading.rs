//! Reading many cases of a run one after the other, as their rows come: for what looks through all of history.

use super::content::content;
use super::error::StoreError;
use super::open::Store;
use super::read::{StoredEvent, each_of_case};
use super::runs::run_row;
use crate::model::Hash;
use rusqlite::Connection;

/// How much of the file is mapped into memory, in bytes: about the most that `SQLite` maps.
const MAPPED: i64 = 0x7fff_0000;

/// One state of the store, open to be read.
pub struct StoreReading<'c> {
    conn: &'c Connection,
    run: i64,
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
    pub fn events<E: From<StoreError>>(&self, case: &str, visit: impl FnMut(StoredEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        each_of_case(self.conn, (self.run, case), visit)
    }

    /// Looks at the content of an address, if it is stored.
    pub fn content<T>(&self, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<Option<T>, StoreError> {
        content(self.conn, hash, look)
    }
}
