//! Errors of a database.

use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;

/// The result of a statement.
pub(crate) type Result<T, E = SqlError> = std::result::Result<T, E>;

/// An error of a database.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// A query that should have a row has none.
    #[error("a query found no row")]
    NoRows,
    /// Of `SQLite`, or of a value that is not of the expected type.
    #[error("SQLite: {0}")]
    File(rusqlite::Error),
    /// Of PostgreSQL.
    #[cfg(feature = "postgres")]
    #[error("PostgreSQL: {}", super::postgres::described(.0))]
    Server(tokio_postgres::Error),
    /// The connection to the server was lost, or none could be made.
    #[cfg(feature = "postgres")]
    #[error("{0}")]
    Connection(String),
    /// A transaction that was to be committed had failed before.
    #[cfg(feature = "postgres")]
    #[error("PostgreSQL: a statement of the transaction failed")]
    Failed,
    /// The connection to the server was lost during a commit, and its outcome is unknown.
    #[cfg(feature = "postgres")]
    #[error("{0}, during a commit; whether it was made is not known")]
    Uncertain(String),
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::QueryReturnedNoRows => Self::NoRows,
            error => Self::File(error),
        }
    }
}

impl From<FromSqlError> for SqlError {
    fn from(error: FromSqlError) -> Self {
        Self::File(error.into())
    }
}

#[cfg(feature = "postgres")]
impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl SqlError {
    /// Whether a row would break a constraint of its table.
    pub(crate) fn is_constraint(&self) -> bool {
        match self {
            Self::File(error) => error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation),
            #[cfg(feature = "postgres")]
            Self::Server(_) => self.is_of(|code| code.starts_with("23")),
            _ => false,
        }
    }

    /// Whether the code of an error of PostgreSQL meets a condition.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_of(&self, condition: impl FnOnce(&str) -> bool) -> bool {
        matches!(self, Self::Server(error) if error.code().is_some_and(|code| condition(code.code())))
    }
}

/// Converts a missing row into `None`.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(SqlError::NoRows) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
