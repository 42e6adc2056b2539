//! Pool of read connections: one for each concurrent reader, kept for reuse.

use super::connection::open_reader;
use super::error::StoreError;
use super::location::StoreLocation;
#[cfg(feature = "postgres")]
use super::server;
use super::sql::Connection;
use super::transaction;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// A transaction that reads. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct ReadTransaction<'r> {
    readers: &'r Readers,
    /// `None` while it is dropped.
    conn: Option<Connection>,
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        // After a panic, the state of the connection is unknown.
        let Some(conn) = self.conn.take().filter(|_| !std::thread::panicking()) else { return };
        // A connection that cannot end its transaction is not used again.
        if transaction::end_read(&conn).is_ok() && conn.is_autocommit() {
            let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < MAX_IDLE {
                idle.push(conn);
            }
        }
    }
}

/// A consistent snapshot of the store.
pub(super) trait Snapshot {
    /// The connection that reads it.
    fn conn(&self) -> Result<&Connection, StoreError>;
}

impl Snapshot for Connection {
    fn conn(&self) -> Result<&Connection, StoreError> {
        Ok(self)
    }
}

/// A transaction that begins when it is needed first.
#[derive(Debug)]
pub(super) struct LazyRead<'r> {
    readers: &'r Readers,
    transaction: OnceCell<ReadTransaction<'r>>,
}

impl<'r> LazyRead<'r> {
    pub(super) fn new(readers: &'r Readers) -> Self {
        Self { readers, transaction: OnceCell::new() }
    }
}

impl Snapshot for LazyRead<'_> {
    fn conn(&self) -> Result<&Connection, StoreError> {
        let transaction = match self.transaction.get() {
            Some(transaction) => transaction,
            None => {
                let begun = self.readers.begin()?;
                self.transaction.get_or_init(|| begun)
            }
        };
        transaction.conn.as_ref().ok_or(StoreError::ReadOnly)
    }
}

/// A pool of read connections to one store.
#[derive(Debug)]
pub(super) struct Readers {
    location: StoreLocation,
    busy_timeout: Duration,
    idle: Mutex<Vec<Connection>>,
    /// Whether a connection was ever opened.
    opened: AtomicBool,
}

impl Readers {
    /// The pool of the store at `location`, which must exist.
    pub(super) fn new(location: StoreLocation, busy_timeout: Duration) -> Self {
        Self { location, busy_timeout, idle: Mutex::default(), opened: AtomicBool::new(false) }
    }

    /// Begins a transaction, which reads a consistent snapshot, independent of concurrent writes.
    pub(super) fn begin(&self) -> Result<ReadTransaction<'_>, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.open_patiently()?,
        };
        transaction::begin_read(&conn)?;
        Ok(ReadTransaction { readers: self, conn: Some(conn) })
    }

    /// Runs `body` in a transaction.
    pub(super) fn read<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let transaction = self.begin()?;
        transaction.conn.as_ref().map_or(Err(StoreError::ReadOnly), body)
    }

    /// Closes the idle connections.
    #[cfg(test)]
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Opens a connection. A server that was there before may be starting again.
    fn open_patiently(&self) -> Result<Connection, StoreError> {
        let deadline = Instant::now() + transaction::PATIENCE;
        loop {
            match self.open() {
                Err(StoreError::Unreachable(_)) if self.opened.load(Ordering::Relaxed) && Instant::now() < deadline => {
                    std::thread::sleep(PAUSE);
                }
                opened => {
                    self.opened.fetch_or(opened.is_ok(), Ordering::Relaxed);
                    return opened;
                }
            }
        }
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
