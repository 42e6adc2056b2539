//! Pool of read connections: one for each concurrent reader, kept for reuse.

use super::connection::{open_reader, run};
use super::error::StoreError;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// A pool of read connections to one file.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    busy_timeout: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// The pool of the store at `path`, which must exist.
    pub(super) fn new(path: PathBuf, busy_timeout: Duration) -> Self {
        Self { path, busy_timeout, idle: Mutex::default() }
    }

    /// Runs `body` on a connection with a consistent snapshot, independent of concurrent writes.
    pub(super) fn read<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => open_reader(&self.path, self.busy_timeout)?,
        };
        run(&conn, "BEGIN")?;
        let result = body(&conn);
        // A connection that cannot end its transaction is dropped.
        if run(&conn, "COMMIT").is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MAX_IDLE {
                idle.push(conn);
            }
        }
        result
    }
}
