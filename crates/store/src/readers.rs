//! Pool of read connections: one for each concurrent reader, kept for reuse.

use super::connection::open_reader;
use super::error::StoreError;
use super::location::StoreLocation;
#[cfg(feature = "postgres")]
use super::server;
use super::sql::Connection;
use super::transaction;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// A pool of read connections to one store.
#[derive(Debug)]
pub(super) struct Readers {
    location: StoreLocation,
    busy_timeout: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// The pool of the store at `location`, which must exist.
    pub(super) fn new(location: StoreLocation, busy_timeout: Duration) -> Self {
        Self { location, busy_timeout, idle: Mutex::default() }
    }

    /// Runs `body` on a connection with a consistent snapshot, independent of concurrent writes.
    pub(super) fn read<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.open()?,
        };
        let result = transaction::read(&conn, body);
        if conn.is_autocommit() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MAX_IDLE {
                idle.push(conn);
            }
        }
        result
    }

    /// Closes the idle connections.
    #[cfg(test)]
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn open(&self) -> Result<Connection, StoreError> {
        match &self.location {
            StoreLocation::File(path) => open_reader(path, self.busy_timeout),
            #[cfg(feature = "postgres")]
            StoreLocation::Server(address) => server::open_reader(address),
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Server(_) => Err(StoreError::NoServers),
        }
    }
}
