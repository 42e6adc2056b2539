//! Errors of the store.

use super::bad_content::BadContent;
use crate::sql::SqlError;
use asterisk_diag::is_full;
use asterisk_walk::JournalError;
use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the store or executes the run; retrying later may help.
    #[error("{0} is in use by another process")]
    Busy(String),
    /// The file was written by a newer version of the program.
    #[error(
        "{store} was written by a newer version of this program: its format is {found}, the newest known here is {known}; \
         update the program"
    )]
    Newer {
        /// Where the store is.
        store: String,
        /// Format version of the store.
        found: i64,
        /// Newest format version known to this program.
        known: i64,
    },
    /// The file was written by an older version of the program and opened read-only.
    #[error("{path} has the older format {found}; any command that writes brings it up to format {known}", path = path.display())]
    Older {
        /// Path of the store.
        path: PathBuf,
        /// Format version of the file.
        found: i64,
        /// Newest format version known to this program.
        known: i64,
    },
    /// The tables on a server were made by an older version of the program.
    #[error("{store} has the older format {found}; `asterisk store migrate` brings it up to format {known}")]
    OlderServer {
        /// Where the store is.
        store: String,
        /// Format version of the tables.
        found: i64,
        /// Newest format version known to this program.
        known: i64,
    },
    /// A text was packed by a newer version of the program.
    #[error(
        "the store has texts that were written by a newer asterisk: they are packed with dictionary {0}, which is unknown here; \
         update the program"
    )]
    NewerText(u8),
    /// The file is not a store.
    #[error("{path} is not a store of this program", path = .0.display())]
    NotAStore(PathBuf),
    /// The file or the project does not exist.
    #[error("no store at {0} yet")]
    Missing(String),
    /// The address is one of a server, and this build of the program knows files only.
    #[error("this build of asterisk does not support PostgreSQL; build it with `--features postgres`")]
    NoServers,
    /// The server cannot be reached, or the connection to it was lost.
    #[error("{0}")]
    Unreachable(String),
    /// The role may not do that on the server.
    #[error("permission denied: {0}")]
    Denied(String),
    /// Another process executes the run now.
    #[error("run `{0}` was taken over by another process; what this one did since is not recorded")]
    TakenOver(String),
    /// The file is damaged.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A content is damaged or missing.
    #[error("the store is damaged: {0}")]
    Content(Box<BadContent>),
    /// The disk is full, or the file may not grow further.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The file was removed or replaced while a run wrote to it.
    #[error("the store {path} was removed or replaced during the run: it does not contain the run", path = .0.display())]
    Lost(PathBuf),
    /// The file or its directory cannot be used.
    #[error("cannot use {path}: {source}", path = path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A write to a store opened read-only.
    #[error("the store was opened to be read only")]
    ReadOnly,
    /// An effect names an unknown symptom or root cause.
    #[error("unknown {0}")]
    UnknownId(String),
    /// No run has this id.
    #[error("unknown run `{0}`; `asterisk status` lists the runs of the store")]
    UnknownRun(String),
    /// The events of the run were removed by retention.
    #[error("the traces of run `{0}` were removed by `asterisk clean`; its findings are kept (`asterisk rca list`)")]
    CleanedRun(String),
    /// A run with this id exists.
    #[error("the run `{0}` already exists in the store")]
    RunExists(String),
    /// The data to write is invalid; nothing of it was stored.
    #[error("{0}")]
    Refused(String),
    /// Any other error of the database.
    #[error(transparent)]
    Database(SqlError),
}

impl StoreError {
    /// Wraps an error of the file system.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        if is_full(&source) {
            return Self::Full(format!("cannot write {}: {source}", path.display()));
        }
        Self::Io { path: path.to_path_buf(), source }
    }

    /// Whether the store cannot be reached now, or another process holds it for too long: the cause is outside the request.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Busy(_))
    }

    /// Whether another process is in the way, so that retrying may help.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_))
    }

    /// Whether stored data is damaged. Other runs and cases may be intact.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Content(_))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError::from(error).into()
    }
}

impl From<FromSqlError> for StoreError {
    fn from(error: FromSqlError) -> Self {
        SqlError::from(error).into()
    }
}

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        let said = || error.to_string();
        match &error {
            // Every statement matches its columns, so a value of another type, or text that is not UTF-8, is damage.
            SqlError::File(
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..),
            ) => Self::Damaged(said()),
            SqlError::File(file) => match file.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy("the store".into()),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(file.to_string()),
                Some(ErrorCode::DiskFull) => Self::Full(format!("the store cannot be written: {file}")),
                _ => Self::Database(error),
            },
            SqlError::NoRows => Self::Database(error),
            #[cfg(feature = "postgres")]
            SqlError::Uncertain(_) | SqlError::Failed => Self::Database(error),
            #[cfg(feature = "postgres")]
            SqlError::Connection(why) => Self::Unreachable(why.clone()),
            // https://www.postgresql.org/docs/current/errcodes-appendix.html
            #[cfg(feature = "postgres")]
            SqlError::Server(server) => match server.code().map_or("", |code| code.code()) {
                "55P03" | "40001" | "40P01" => Self::Busy("the store".into()),
                "53100" => Self::Full(format!("the store cannot be written: {}", said())),
                "42501" | "25006" => Self::Denied(said()),
                "XX001" | "XX002" => Self::Damaged(said()),
                "57P01" | "57P02" | "57P03" => Self::Unreachable(said()),
                _ => Self::Database(error),
            },
        }
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(why) => Self::Refused(why),
            StoreError::Full(why) => Self::Full(why),
            error if error.is_busy() => Self::Busy(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_stays_busy_and_the_rest_is_failure() {
        assert!(matches!(StoreError::Busy("run `r`".into()).into(), JournalError::Busy(text) if text.contains("run `r`")));
        assert!(matches!(StoreError::ReadOnly.into(), JournalError::Failed(_)));
        let locked = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None);
        assert!(StoreError::from(locked).is_busy());
    }
}
