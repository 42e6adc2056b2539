//! Transactions on a connection. A reader's sees the store as it was when it began; a writer's begins once no other is open, so that what
//! one reads cannot change before it writes, and the numbers of events follow the order of commits.

use super::error::StoreError;
use super::sql::{self, Connection, SqlError};
use std::time::{Duration, Instant};

/// Upper bound of the pause between two attempts to get the write lock. `SQLite`'s own handler pauses up to 100 ms, which starves a process
/// next to one that writes without pause.
const MAX_PAUSE: Duration = Duration::from_millis(2);
/// How long to wait for a server that went away: as long as one takes to start again.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Runs `body` in a write transaction and commits it, or rolls it back if `body` fails. `boundary` is called before the transaction, before
/// its commit and after it; its failure fails the transaction (too late to undo it after the commit).
pub(super) fn write<T>(
    conn: &Connection,
    busy_timeout: Duration,
    mut boundary: impl FnMut() -> Result<(), StoreError>,
    body: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    boundary()?;
    begin(conn, busy_timeout)?;
    let result = body(conn).and_then(|value| {
        boundary()?;
        commit(conn)?;
        Ok(value)
    });
    match result {
        Ok(value) => boundary().map(|()| value),
        Err(error) => {
            // The error of `body` is the one to report; a transaction that cannot be rolled back now is before the next one.
            roll_back(conn).unwrap_or_default();
            Err(error)
        }
    }
}

/// Begins a transaction that only reads.
pub(super) fn begin_read(conn: &Connection) -> Result<(), StoreError> {
    match conn {
        Connection::File(_) => run(conn, "BEGIN")?,
        #[cfg(feature = "postgres")]
        Connection::Server(server) => server.begin_read(PATIENCE)?,
    }
    Ok(())
}

/// Ends a transaction that only read.
pub(super) fn end_read(conn: &Connection) -> Result<(), StoreError> {
    match conn {
        Connection::File(_) => roll_back(conn),
        #[cfg(feature = "postgres")]
        Connection::Server(server) => Ok(server.end_read()?),
    }
}

fn begin(conn: &Connection, busy_timeout: Duration) -> Result<(), StoreError> {
    // A panic may have left a transaction open.
    roll_back(conn)?;
    match conn {
        Connection::File(_) => retry_while_busy(busy_timeout, || run(conn, "BEGIN IMMEDIATE")),
        #[cfg(feature = "postgres")]
        Connection::Server(server) => Ok(server.begin_write(busy_timeout, PATIENCE)?),
    }
}

fn commit(conn: &Connection) -> sql::Result<()> {
    match conn {
        Connection::File(_) => run(conn, "COMMIT"),
        #[cfg(feature = "postgres")]
        Connection::Server(server) => server.commit(PATIENCE),
    }
}

/// Rolls back the open transaction, if any: some errors make `SQLite` roll back by itself.
fn roll_back(conn: &Connection) -> Result<(), StoreError> {
    if conn.is_autocommit() {
        return Ok(());
    }
    match conn {
        Connection::File(_) => run(conn, "ROLLBACK")?,
        #[cfg(feature = "postgres")]
        Connection::Server(server) => server.end("ROLLBACK")?,
    }
    Ok(())
}

/// Runs a statement of a transaction, without parameters or rows. A server's reply is not waited for.
pub(super) fn run(conn: &Connection, sql: &'static str) -> sql::Result<()> {
    match conn {
        Connection::File(conn) => conn.prepare_cached(sql)?.execute([]).map(drop).map_err(SqlError::from),
        #[cfg(feature = "postgres")]
        Connection::Server(server) => server.send_simple(sql),
    }
}

/// Retries an operation while another process holds the lock.
pub(super) fn retry_while_busy(busy_timeout: Duration, mut attempt: impl FnMut() -> sql::Result<()>) -> Result<(), StoreError> {
    let deadline = Instant::now() + busy_timeout;
    let mut pause = Duration::from_micros(50);
    loop {
        match attempt().map_err(StoreError::from) {
            Err(StoreError::Busy(_)) if Instant::now() < deadline => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(MAX_PAUSE);
            }
            other => return other,
        }
    }
}
