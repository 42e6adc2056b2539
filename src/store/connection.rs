//! A connection to the file, made ready: what every one of ours has switched on, and transactions on it.

use super::error::StoreError;
use super::migrations;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};

/// `ASTR`: tells our files from other `SQLite` files.
const APPLICATION_ID: i64 = 0x4153_5452;
const PAGE_BYTES: i64 = 4096;
/// How many pages (16 MiB) gather in the write-ahead log before they are moved into the file. Moving waits for the disk at
/// either durability level; at `SQLite`'s own 1000 that wait makes half the cost of a walk.
const LOG_PAGES: i64 = 4000;
/// More than there are statements in this module, so that each is prepared once.
const STATEMENTS: usize = 128;
/// The longest pause between two attempts to get the write lock. `SQLite`'s own handler pauses up to 100 ms, which starves a
/// process beside one that writes without rest.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Opens a file to be read and written, bringing its format up to date. The file must exist; an empty one becomes a store.
pub(super) fn open_writer(path: &Path, synchronous: &str, patience: Duration) -> Result<Connection, StoreError> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, patience)?;
    if is_empty(&conn, path)? {
        conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    } else {
        expect_ours(&conn, path)?;
    }
    // Two processes that turn a new file to WAL at once get in each other's way without SQLite's waiting.
    patiently(patience, || conn.pragma_update(None, "journal_mode", "WAL"))?;
    conn.pragma_update(None, "synchronous", synchronous)?;
    conn.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    if migrations::version(&conn)? != migrations::newest(migrations::STEPS) {
        transaction(
            &conn,
            patience,
            || Ok(()),
            |conn| {
                // The other process may have been first.
                if is_empty(conn, path)? {
                    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
                }
                migrations::migrate(conn, path, migrations::STEPS)
            },
        )?;
    }
    Ok(conn)
}

/// Opens a new store that goes away with the connection.
pub(super) fn open_scratch() -> Result<Connection, StoreError> {
    // A database without a name is in memory, until it is too large for that.
    let conn = Connection::open("")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    keep_plans(&conn)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "journal_mode", "MEMORY")?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    migrations::migrate(&conn, Path::new(""), migrations::STEPS)?;
    Ok(conn)
}

/// Opens a store to be read only. It must exist and have the newest format.
pub(super) fn open_reader(path: &Path, patience: Duration) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing(path.to_path_buf()));
    }
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, patience)?;
    expect_ours(&conn, path)?;
    let (found, known) = (migrations::version(&conn)?, migrations::newest(migrations::STEPS));
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(StoreError::Older { path: path.to_path_buf(), found, known }),
        std::cmp::Ordering::Greater => Err(StoreError::Newer { path: path.to_path_buf(), found, known }),
        std::cmp::Ordering::Equal => Ok(conn),
    }
}

/// Opens a store of any version to be looked over, not to be waited for and not to be changed.
pub(super) fn inspect(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing(path.to_path_buf()));
    }
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, Duration::ZERO)?;
    expect_ours(&conn, path)?;
    Ok(conn)
}

/// Runs `body` in a write transaction: commits what it did, or, if it fails, nothing of it. `boundary` is called before the
/// transaction, before its commit and after it; where it fails, so does the transaction (behind the commit too late to undo it).
pub(super) fn transaction<T>(
    conn: &Connection,
    patience: Duration,
    mut boundary: impl FnMut() -> Result<(), StoreError>,
    body: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    boundary()?;
    // Left open by a panic.
    roll_back(conn)?;
    patiently(patience, || run(conn, "BEGIN IMMEDIATE"))?;
    let result = body(conn).and_then(|value| {
        boundary()?;
        run(conn, "COMMIT")?;
        Ok(value)
    });
    match result {
        Ok(value) => boundary().map(|()| value),
        Err(error) => {
            // Why it failed is what there is to say; a transaction that cannot be ended is so before the next one.
            roll_back(conn).unwrap_or_default();
            Err(error)
        }
    }
}

/// Ends a transaction without a trace, if there still is one: some errors make `SQLite` end it by itself.
fn roll_back(conn: &Connection) -> Result<(), StoreError> {
    if !conn.is_autocommit() {
        run(conn, "ROLLBACK")?;
    }
    Ok(())
}

/// Runs a statement that takes and returns nothing, prepared once.
pub(super) fn run(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}

fn open(path: &Path, access: OpenFlags, patience: Duration) -> Result<Connection, StoreError> {
    // SQLite's own words for what is wrong with a directory or file are poor; the file system's are better.
    if let Err(source) =
        std::fs::metadata(path).and_then(|data| if data.is_dir() { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(()) })
    {
        return Err(StoreError::io(path, source));
    }
    // An absolute path, because SQLite takes one that begins with `file:` for a URI.
    let absolute = std::path::absolute(path).map_err(|source| StoreError::io(path, source))?;
    let conn =
        Connection::open_with_flags(absolute, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(|error| unusable(error, path))?;
    conn.busy_timeout(patience)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    keep_plans(&conn)?;
    conn.pragma_update(None, "trusted_schema", false).map_err(|error| unusable(error, path))?;
    Ok(conn)
}

/// Statements are planned once, whatever they are asked for. Otherwise many are planned again for each value bound to them.
fn keep_plans(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn is_empty(conn: &Connection, path: &Path) -> Result<bool, StoreError> {
    conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0)).map_err(|error| unusable(error, path))
}

fn expect_ours(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let id: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(|error| unusable(error, path))?;
    if id == APPLICATION_ID { Ok(()) } else { Err(StoreError::NotAStore(path.to_path_buf())) }
}

/// The error of the first contact with a file.
fn unusable(error: rusqlite::Error, path: &Path) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotAStore(path.to_path_buf()),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            StoreError::io(path, std::io::Error::other(error))
        }
        _ => error.into(),
    }
}

/// Tries again while another process is in the way.
fn patiently(patience: Duration, mut attempt: impl FnMut() -> rusqlite::Result<()>) -> Result<(), StoreError> {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_micros(50);
    loop {
        match attempt().map_err(StoreError::from) {
            Err(StoreError::Busy(_)) if Instant::now() < deadline => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            other => return other,
        }
    }
}
