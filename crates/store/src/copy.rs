//! Copying a whole store into an empty one, row by row: a backup, or the move from a file to a server and back.

use super::connection::open_scratch;
use super::content;
use super::error::StoreError;
use super::open::Store;
use super::read;
use super::sql::{Connection, PLAIN};
use rusqlite::ToSql;
use rusqlite::types::{Value, ValueRef};
use serde::Serialize;

/// How many rows are read at once.
const ROWS: i64 = 1000;

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CopiedStore {
    /// Number of runs.
    pub runs: u64,
    /// Number of events.
    pub events: u64,
    /// Number of contents.
    pub contents: u64,
}

/// A table of the store.
struct CopiedTable {
    name: String,
    /// Its columns, and whether each takes values of any type.
    columns: Vec<(String, bool)>,
    /// The columns of its key.
    key: Vec<String>,
}

impl Store {
    /// Copies everything into an empty store and compares every content and event there with its address or sum.
    pub fn copy_to(&self, target: &Self) -> Result<CopiedStore, StoreError> {
        let tables = tables()?;
        self.read(|from| {
            target.writer()?.exclusively(|to| {
                for table in ["runs", "events", "rcas"] {
                    let sql = format!("SELECT count(*) FROM {table}");
                    if to.query_row(&sql, [], |row| row.get::<_, i64>(0))? > 0 {
                        return Err(StoreError::Refused(
                            "the target is not empty; `asterisk store sync` adds runs to a store".into(),
                        ));
                    }
                }
                // A store that was only opened may have made something.
                for table in tables.iter().rev() {
                    to.execute(&format!("DELETE FROM {}", table.name), [])?;
                }
                tables.iter().try_for_each(|table| table.copy(from, to))?;
                number_on(to, &tables)
            })
        })?;
        let verified = target.verify()?;
        if let Some(first) = verified.damaged.first() {
            let more = verified.damaged.len() - 1;
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            return Err(StoreError::Damaged(format!("the copy has what was damaged in the original: {first}{more}")));
        }
        let runs: i64 = target.read(|conn| Ok(conn.query_row("SELECT count(*) FROM runs", [], |row| row.get(0))?))?;
        Ok(CopiedStore { runs: runs.unsigned_abs(), events: verified.events, contents: verified.contents })
    }

    /// Compares every content with its address, and every event with its sum.
    pub fn verify(&self) -> Result<VerifiedStore, StoreError> {
        self.read(|conn| {
            let mut damaged = Vec::new();
            let contents = content::verify(conn, |bad| damaged.push(bad.to_string()))?;
            let (events, bad) = read::verify(conn)?;
            damaged.extend(bad);
            Ok(VerifiedStore { contents, events, damaged })
        })
    }
}

/// What was compared in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedStore {
    /// Number of contents.
    pub contents: u64,
    /// Number of events.
    pub events: u64,
    /// A description of each damaged or missing one.
    pub damaged: Vec<String>,
}

/// The tables of the newest format, in the order in which they were made: a row refers to rows of earlier ones.
fn tables() -> Result<Vec<CopiedTable>, StoreError> {
    let conn = open_scratch()?;
    let mut names =
        conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid")?;
    let names = names.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let table = |name: String| {
        let mut columns = conn.prepare("SELECT name, type, pk FROM pragma_table_info(?1)")?;
        let columns = columns.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let columns = columns.collect::<Result<Vec<(String, String, i64)>, _>>()?;
        let mut key: Vec<_> = columns.iter().filter(|(.., place)| *place > 0).collect();
        key.sort_by_key(|(.., place)| *place);
        let mut key: Vec<String> = key.into_iter().map(|(name, ..)| name.clone()).collect();
        if key.is_empty() {
            key = columns.iter().map(|(name, ..)| name.clone()).collect();
        }
        let columns = columns.into_iter().map(|(name, kind, _)| (name, kind == "ANY")).collect();
        Ok(CopiedTable { name, columns, key })
    };
    names.into_iter().map(table).collect()
}

impl CopiedTable {
    fn copy(&self, from: &Connection, to: &Connection) -> Result<(), StoreError> {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let columns = columns.join(", ");
        let key = self.key.join(", ");
        let select = format!("SELECT {columns} FROM {} ORDER BY {key} LIMIT ?1 OFFSET ?2", self.name);
        let places: Vec<String> = (1..=self.columns.len()).map(|place| format!("?{place}")).collect();
        let insert = format!("INSERT INTO {} ({columns}) VALUES ({})", self.name, places.join(", "));
        let (mut select, mut insert) = (from.prepare(&select)?, to.prepare(&insert)?);
        let mut offset = 0;
        loop {
            let mut rows = select.query([ROWS, offset])?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                count += 1;
                let values: Vec<Value> = (self.columns.iter().enumerate())
                    .map(|(place, (_, any))| owned(row.get_ref(place)?, *any))
                    .collect::<Result<_, StoreError>>()?;
                let values: Vec<&dyn ToSql> = values.iter().map(|value| value as &dyn ToSql).collect();
                insert.execute(values.as_slice())?;
            }
            if count < ROWS {
                return Ok(());
            }
            offset += ROWS;
        }
    }
}

/// A value as `SQLite` would have it: on a server, a column of any type contains bytes, and the first one marks a text.
fn owned(value: ValueRef<'_>, any: bool) -> Result<Value, StoreError> {
    match value {
        ValueRef::Blob([PLAIN, text @ ..]) if any => Ok(Value::Text(String::from_utf8_lossy(text).into_owned())),
        other => Ok(Value::try_from(other)?),
    }
}

/// Makes a server number new rows from the highest key on.
fn number_on(conn: &Connection, tables: &[CopiedTable]) -> Result<(), StoreError> {
    if conn.file().is_some() {
        return Ok(());
    }
    for CopiedTable { name, columns, key } in tables {
        if let ([key], true) = (key.as_slice(), columns.iter().any(|(name, _)| name == "id")) {
            conn.execute_batch(&format!(
                "SELECT setval(pg_get_serial_sequence('{name}', '{key}'), greatest((SELECT max({key}) FROM {name}), 1)) \
                 WHERE EXISTS (SELECT 1 FROM {name})"
            ))?;
        }
    }
    Ok(())
}
