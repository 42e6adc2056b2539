//! Streams the events of many cases of a run, for tools that read all of history.

use super::content::{content, needed};
use super::error::StoreError;
use super::open::Store;
use super::read::{StoredEvent, each_of_case};
use super::runs::{case_of, run_row};
use crate::sql::Connection;
use asterisk_base::model::{Case, Hash};

/// Bytes of the file mapped into memory: about `SQLite`'s maximum.
const MAPPED: i64 = 0x7fff_0000;

/// A consistent snapshot of the store for reading.
pub struct StoreReading<'c> {
    conn: &'c Connection,
    run: i64,
}

impl Store {
    /// Opens a snapshot to read cases of a run.
    pub fn reading<T, E: From<StoreError>>(
        &self,
        run: &str,
        body: impl FnOnce(&StoreReading<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read(|conn| {
            // Contents are scattered over the file: mapping it saves a system call for each page.
            if let Some(file) = conn.file() {
                file.pragma_update(None, "mmap_size", MAPPED)?;
            }
            Ok(body(&StoreReading { conn, run: run_row(conn, run)? }))
        })?
    }
}

impl StoreReading<'_> {
    /// Passes the events of a case to `visit`, in order.
    pub fn events<E: From<StoreError>>(&self, case: &str, visit: impl FnMut(StoredEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        each_of_case(self.conn, (self.run, case), visit)
    }

    /// A case of the run.
    pub fn case(&self, case: &str) -> Result<Case, StoreError> {
        case_of(self.conn, self.run, case)
    }

    /// The content at an address; a missing one is an error.
    pub fn needed(&self, hash: &Hash) -> Result<String, StoreError> {
        needed(self.conn, hash, str::to_owned)
    }

    /// Passes the content at an address to `look`, if it is stored.
    pub fn content<T>(&self, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<Option<T>, StoreError> {
        content(self.conn, hash, look)
    }
}
