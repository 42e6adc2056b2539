//! Connections to a file with the settings that every one needs.

use super::error::StoreError;
use super::migrations;
use super::sql::Connection as AnyConnection;
use super::transaction::{retry_while_busy, write};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// `ASTR`: distinguishes stores from other `SQLite` files.
const APPLICATION_ID: i64 = 0x4153_5452;
const PAGE_BYTES: i64 = 4096;
/// Number of pages (16 MiB) that accumulate in the write-ahead log before a checkpoint. A checkpoint waits for the disk at either
/// durability level; at `SQLite`'s default of 1000 it takes half the time of a walk.
const CHECKPOINT_PAGES: i64 = 4000;
/// Capacity of the statement cache: more than there are statements in this module, so that each is prepared once.
const STATEMENT_CACHE: usize = 128;

/// Opens a file for writing and migrates it to the newest format. The file must exist; an empty one becomes a store.
pub(super) fn open_writer(path: &Path, synchronous: &str, busy_timeout: Duration) -> Result<AnyConnection, StoreError> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy_timeout)?;
    if is_empty(&conn, path)? {
        conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    } else {
        expect_ours(&conn, path)?;
    }
    // Two processes that switch a new file to WAL at once collide without SQLite's busy handler being called.
    retry_while_busy(busy_timeout, || Ok(conn.pragma_update(None, "journal_mode", "WAL")?))?;
    conn.pragma_update(None, "synchronous", synchronous)?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    let current = migrations::version(&conn)? == migrations::newest(migrations::STEPS);
    let conn = AnyConnection::File(conn);
    if !current {
        write(
            &conn,
            busy_timeout,
            || Ok(()),
            |conn| {
                let Some(conn) = conn.file() else { return Ok(()) };
                // The other process may have initialised the file first.
                if is_empty(conn, path)? {
                    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
                }
                migrations::migrate(conn, path, migrations::STEPS)
            },
        )?;
    }
    Ok(conn)
}

/// Opens a new store that lives as long as the connection.
pub(super) fn open_scratch() -> Result<AnyConnection, StoreError> {
    // A database without a name is in memory and spills to a temporary file.
    let conn = Connection::open("")?;
    conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    keep_plans(&conn)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "journal_mode", "MEMORY")?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    migrations::migrate(&conn, Path::new(""), migrations::STEPS)?;
    Ok(AnyConnection::File(conn))
}

/// Opens a store read-only. It must exist and have the newest format.
pub(super) fn open_reader(path: &Path, busy_timeout: Duration) -> Result<AnyConnection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing(path.display().to_string()));
    }
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, busy_timeout)?;
    // A process that was killed while it made the store leaves an empty one.
    if is_empty(&conn, path)? {
        return Err(StoreError::Missing(path.display().to_string()));
    }
    expect_ours(&conn, path)?;
    let (found, known) = (migrations::version(&conn)?, migrations::newest(migrations::STEPS));
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(StoreError::Older { path: path.to_path_buf(), found, known }),
        std::cmp::Ordering::Greater => Err(StoreError::Newer { store: path.display().to_string(), found, known }),
        std::cmp::Ordering::Equal => Ok(AnyConnection::File(conn)),
    }
}

/// Opens a store of any version for inspection: read-only, without waiting for locks.
pub(super) fn inspect(path: &Path) -> Result<AnyConnection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing(path.display().to_string()));
    }
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, Duration::ZERO)?;
    expect_ours(&conn, path)?;
    Ok(AnyConnection::File(conn))
}

fn open(path: &Path, access: OpenFlags, busy_timeout: Duration) -> Result<Connection, StoreError> {
    // The file system's messages about an unusable directory or file are better than SQLite's.
    if let Err(source) =
        std::fs::metadata(path).and_then(|data| if data.is_dir() { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(()) })
    {
        return Err(StoreError::io(path, source));
    }
    // An absolute path, because SQLite takes a path that begins with `file:` for a URI.
    let absolute = std::path::absolute(path).map_err(|source| StoreError::io(path, source))?;
    let conn =
        Connection::open_with_flags(absolute, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(|error| unusable(error, path))?;
    conn.busy_timeout(busy_timeout)?;
    conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    keep_plans(&conn)?;
    conn.pragma_update(None, "trusted_schema", false).map_err(|error| unusable(error, path))?;
    Ok(conn)
}

/// Keeps query plans independent of bound values. By default many statements are planned again for each value bound to them.
fn keep_plans(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn is_empty(conn: &Connection, path: &Path) -> Result<bool, StoreError> {
    conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0)).map_err(|error| unusable(error, path))
}

fn expect_ours(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let id: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(|error| unusable(error, path))?;
    if id != APPLICATION_ID {
        return Err(StoreError::NotAStore(path.to_path_buf()));
    }
    // Pages are written whole. SQLite fills up a last page that was cut off.
    let page: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(|error| unusable(error, path))?;
    let length = std::fs::metadata(path).map_err(|error| StoreError::io(path, error))?.len();
    if length % page.unsigned_abs().max(1) == 0 { Ok(()) } else { Err(StoreError::Damaged("the file ends within a page".into())) }
}

/// Maps the error of the first access to a file.
fn unusable(error: rusqlite::Error, path: &Path) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotAStore(path.to_path_buf()),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            StoreError::io(path, std::io::Error::other(error))
        }
        _ => error.into(),
    }
}
