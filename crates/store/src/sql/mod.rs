//! The port to a database: one interface for `SQLite` and PostgreSQL, in which everything above is written once.
//!
//! The SQL of the store is the part that both have in common; `dialect.rs` translates the rest. Values are those of `SQLite`: integers of 64
//! bits, reals, texts, bytes, null. Text is compared by its bytes on either side.

mod dialect;
mod error;
mod params;
#[cfg(feature = "postgres")]
mod postgres;

use crate::cache::ServerCache;
#[cfg(feature = "postgres")]
pub(crate) use dialect::translated_schema;
pub(crate) use error::{OptionalExtension, Result, SqlError};
pub(crate) use params::SqlParams;
#[cfg(feature = "postgres")]
pub(crate) use postgres::ServerConnection;
pub(crate) use rusqlite::params;
use rusqlite::types::{FromSql, ValueRef};
use std::cell::RefCell;
#[cfg(feature = "postgres")]
use tokio_postgres::Row as ServerRow;

/// Precedes a plain text in a column of bytes, which distinguishes it from compressed ones: PostgreSQL lacks columns of any type.
pub(crate) const PLAIN: u8 = 0;

/// A connection to a database. Used by one thread at a time.
#[derive(Debug)]
pub(crate) enum Connection {
    File(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Server(Box<ServerConnection>),
}

/// A statement, ready to be executed.
pub(crate) enum Statement<'c> {
    File(rusqlite::CachedStatement<'c>),
    #[cfg(feature = "postgres")]
    Server(&'c ServerConnection, tokio_postgres::Statement),
}

/// The rows of a query.
pub(crate) enum Rows<'s> {
    File(rusqlite::Rows<'s>),
    #[cfg(feature = "postgres")]
    Server {
        rest: std::vec::IntoIter<ServerRow>,
        current: Option<ServerRow>,
    },
}

/// A row of a query.
pub(crate) enum Row<'r> {
    File(&'r rusqlite::Row<'r>),
    #[cfg(feature = "postgres")]
    Server(&'r ServerRow),
}

/// A column, by its place or its name.
pub(crate) trait ColumnKey: rusqlite::RowIndex {
    /// Its place in a row of a server.
    #[cfg(feature = "postgres")]
    fn place(&self, row: &ServerRow) -> Option<usize>;
}

impl ColumnKey for usize {
    #[cfg(feature = "postgres")]
    fn place(&self, _: &ServerRow) -> Option<usize> {
        Some(*self)
    }
}

impl ColumnKey for &str {
    #[cfg(feature = "postgres")]
    fn place(&self, row: &ServerRow) -> Option<usize> {
        row.columns().iter().position(|column| column.name() == *self)
    }
}

impl Connection {
    /// A prepared statement, kept by the connection for the next time.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Self::File(conn) => Ok(Statement::File(conn.prepare_cached(sql)?)),
            #[cfg(feature = "postgres")]
            Self::Server(conn) => Ok(Statement::Server(conn, conn.prepare(sql)?)),
        }
    }

    /// A prepared statement for a single use.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        self.prepare_cached(sql)
    }

    /// Executes a statement; returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, params: impl SqlParams) -> Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }

    /// Executes statements without parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::File(conn) => Ok(conn.execute_batch(sql)?),
            #[cfg(feature = "postgres")]
            Self::Server(conn) => conn.batch(sql),
        }
    }

    /// The first row of a query; without one, [`SqlError::NoRows`].
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: impl SqlParams,
        of_row: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql)?.query_row(params, of_row)
    }

    /// Waits for the replies to what was sent.
    #[cfg_attr(not(feature = "postgres"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn settle(&self) -> Result<()> {
        match self {
            Self::File(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Self::Server(conn) => conn.settle(),
        }
    }

    /// The cache of a connection to a server, within a transaction; `None` for a file, which answers at once.
    pub(crate) fn cache(&self) -> Option<&RefCell<ServerCache>> {
        match self {
            Self::File(_) => None,
            #[cfg(feature = "postgres")]
            Self::Server(conn) => conn.cache(),
        }
    }

    /// Whether no transaction is open.
    pub(crate) fn is_autocommit(&self) -> bool {
        match self {
            Self::File(conn) => conn.is_autocommit(),
            #[cfg(feature = "postgres")]
            Self::Server(conn) => !conn.is_in_transaction(),
        }
    }

    /// Whether this is a store without a file, which is gone with the process.
    pub(crate) fn is_scratch(&self) -> bool {
        match self {
            Self::File(conn) => conn.path().is_none_or(str::is_empty),
            #[cfg(feature = "postgres")]
            Self::Server(_) => false,
        }
    }

    /// The connection to a file; `None` for one to a server.
    #[cfg_attr(not(feature = "postgres"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn file(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::File(conn) => Some(conn),
            #[cfg(feature = "postgres")]
            Self::Server(_) => None,
        }
    }

    /// The connection to a server; `None` for one to a file.
    #[cfg(all(test, feature = "postgres"))]
    pub(crate) fn server(&self) -> Option<&ServerConnection> {
        match self {
            Self::File(_) => None,
            Self::Server(conn) => Some(conn),
        }
    }
}

impl Statement<'_> {
    /// Executes the statement; returns the number of rows that it changed.
    pub(crate) fn execute(&mut self, params: impl SqlParams) -> Result<usize> {
        params.with(|values| match self {
            Self::File(statement) => Ok(statement.execute(values)?),
            #[cfg(feature = "postgres")]
            Self::Server(conn, statement) => conn.execute(statement, values),
        })
    }

    /// Executes the statement within a transaction of a writer. A server's reply is not waited for: if it fails, the next query or the commit
    /// does.
    pub(crate) fn send(&mut self, params: impl SqlParams) -> Result<()> {
        params.with(|values| match self {
            Self::File(statement) => Ok(statement.execute(values).map(drop)?),
            #[cfg(feature = "postgres")]
            Self::Server(conn, statement) => conn.send(statement, values),
        })
    }

    /// The rows of the query.
    pub(crate) fn query(&mut self, params: impl SqlParams) -> Result<Rows<'_>> {
        params.with(|values| match self {
            Self::File(statement) => Ok(Rows::File(statement.query(values)?)),
            #[cfg(feature = "postgres")]
            Self::Server(conn, statement) => Ok(Rows::Server { rest: conn.query(statement, values)?.into_iter(), current: None }),
        })
    }

    /// What is made of the rows of the query for each of many parameters. A server is asked at once.
    pub(crate) fn query_each<P: SqlParams, T>(
        &mut self,
        all: Vec<P>,
        mut of_row: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<Vec<T>>> {
        #[cfg(feature = "postgres")]
        if let Self::Server(conn, statement) = self {
            let found = conn.query_each(statement, all)?;
            return found.iter().map(|rows| rows.iter().map(|row| of_row(&Row::Server(row))).collect()).collect();
        }
        all.into_iter().map(|params| self.query_map(params, &mut of_row)?.collect()).collect()
    }

    /// What is made of each row of the query.
    pub(crate) fn query_map<T, F: FnMut(&Row<'_>) -> Result<T>>(
        &mut self,
        params: impl SqlParams,
        of_row: F,
    ) -> Result<MappedRows<'_, F>> {
        Ok(MappedRows { rows: self.query(params)?, of_row })
    }

    /// The first row of the query; without one, [`SqlError::NoRows`].
    pub(crate) fn query_row<T>(&mut self, params: impl SqlParams, of_row: impl FnOnce(&Row<'_>) -> Result<T>) -> Result<T> {
        let mut rows = self.query(params)?;
        let row = rows.next()?.ok_or(SqlError::NoRows)?;
        of_row(&row)
    }

    /// Whether the query has a row.
    pub(crate) fn exists(&mut self, params: impl SqlParams) -> Result<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }
}

impl Rows<'_> {
    /// The next row, if any.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Self::File(rows) => Ok(rows.next()?.map(Row::File)),
            #[cfg(feature = "postgres")]
            Self::Server { rest, current } => {
                *current = rest.next();
                Ok(current.as_ref().map(Row::Server))
            }
        }
    }
}

/// What is made of the rows of a query.
pub(crate) struct MappedRows<'s, F> {
    rows: Rows<'s>,
    of_row: F,
}

impl<T, F: FnMut(&Row<'_>) -> Result<T>> Iterator for MappedRows<'_, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next().transpose()?;
        Some(row.and_then(|row| (self.of_row)(&row)))
    }
}

impl<'r> Row<'r> {
    /// A column as a value of a type.
    pub(crate) fn get<C: ColumnKey, T: FromSql>(&self, column: C) -> Result<T> {
        match self {
            Self::File(row) => Ok(row.get(column)?),
            #[cfg(feature = "postgres")]
            Self::Server(_) => Ok(T::column_result(self.get_ref(column)?)?),
        }
    }

    /// A column as it is.
    pub(crate) fn get_ref<C: ColumnKey>(&self, column: C) -> Result<ValueRef<'r>> {
        match self {
            Self::File(row) => Ok(row.get_ref(column)?),
            #[cfg(feature = "postgres")]
            Self::Server(row) => postgres::value(row, column.place(row)),
        }
    }
}
