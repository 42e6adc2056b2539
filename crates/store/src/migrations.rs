//! Versions of the file format and the migrations between them.

use super::error::StoreError;
use rusqlite::Connection;
use std::path::Path;

/// The SQL that leads from version n to n + 1, for n = 0, 1, ... A published one is never edited; new ones are appended.
pub(super) const STEPS: &[&str] = &[include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// Version of a file: `PRAGMA user_version`.
pub(super) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Newest version that the migrations lead to.
pub(super) fn newest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// Applies all pending migrations. Must run inside a write transaction: of two processes that open an old file at once, one waits for the
/// other and finds nothing to do, and a failed migration leaves no trace.
pub(super) fn migrate(conn: &Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let found = version(conn)?;
    let known = newest(steps);
    let taken = usize::try_from(found).map_err(|_| StoreError::NotAStore(path.to_path_buf()))?;
    if taken > steps.len() {
        return Err(StoreError::Newer { store: path.display().to_string(), found, known });
    }
    for step in &steps[taken..] {
        conn.execute_batch(step)?;
    }
    if found != known {
        conn.pragma_update(None, "user_version", known)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn schema(conn: &Connection) -> Vec<String> {
        let mut rows = conn.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn at(version: usize) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        migrate(&conn, Path::new("x"), &STEPS[..version]).unwrap();
        conn
    }

    #[test]
    fn every_earlier_version_comes_to_the_same_format() {
        let newest = schema(&at(STEPS.len()));
        assert!(newest.iter().any(|sql| sql.contains("TABLE events")), "{newest:?}");
        for earlier in 0..STEPS.len() {
            let conn = at(earlier);
            migrate(&conn, Path::new("x"), STEPS).unwrap();
            assert_eq!(schema(&conn), newest, "from version {earlier}");
            assert_eq!(version(&conn).unwrap(), super::newest(STEPS));
        }
    }

    #[test]
    fn steps_are_taken_once_and_in_order() {
        let conn = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y"];
        migrate(&conn, Path::new("x"), &steps[..1]).unwrap();
        conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        migrate(&conn, Path::new("x"), &steps).unwrap();
        migrate(&conn, Path::new("x"), &steps).unwrap();
        assert_eq!(conn.query_row("SELECT x, y FROM a", [], |row| Ok((row.get(0)?, row.get(1)?))), Ok((1, None::<i64>)));
    }

    #[test]
    fn a_newer_file_is_refused() {
        let conn = at(STEPS.len());
        conn.pragma_update(None, "user_version", 999).unwrap();
        let error = migrate(&conn, Path::new("some.db"), STEPS).expect_err("newer");
        assert!(matches!(&error, StoreError::Newer { found: 999, .. }), "{error}");
        assert!(error.to_string().contains("some.db"), "{error}");
    }
}
