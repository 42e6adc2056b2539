//! Versions of the file format and the migrations between them.

use super::error::StoreError;
use super::terms;
use rusqlite::Connection;
use std::path::Path;

/// A migration from one version to the next.
pub(super) struct Migration {
    sql: &'static str,
    /// Runs after the SQL, for what SQL cannot do.
    then: fn(&Connection) -> Result<(), StoreError>,
}

impl Migration {
    const fn sql(sql: &'static str) -> Self {
        Self { sql, then: |_| Ok(()) }
    }
}

/// Migrations from version n to n + 1, for n = 0, 1, ... A published one is never edited; new ones are appended.
pub(super) const STEPS: &[Migration] = &[
    Migration::sql(include_str!("schema/1.sql")),
    Migration::sql(include_str!("schema/2.sql")),
    Migration::sql(include_str!("schema/3.sql")),
    Migration { sql: include_str!("schema/4.sql"), then: terms::build_index },
    Migration::sql(include_str!("schema/5.sql")),
    Migration::sql(include_str!("schema/6.sql")),
    Migration::sql(include_str!("schema/7.sql")),
    Migration::sql(include_str!("schema/8.sql")),
    Migration::sql(include_str!("schema/9.sql")),
    Migration::sql(include_str!("schema/10.sql")),
    Migration::sql(include_str!("schema/11.sql")),
    Migration::sql(include_str!("schema/12.sql")),
];

/// Version of a file: `PRAGMA user_version`.
pub(super) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Newest version that the migrations lead to.
pub(super) fn newest(steps: &[Migration]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// Applies all pending migrations. Must run inside a write transaction: of two processes that open an old file at once, one waits for the
/// other and finds nothing to do, and a failed migration leaves no trace.
pub(super) fn migrate(conn: &Connection, path: &Path, steps: &[Migration]) -> Result<(), StoreError> {
    let found = version(conn)?;
    let known = newest(steps);
    let taken = usize::try_from(found).map_err(|_| StoreError::NotAStore(path.to_path_buf()))?;
    if taken > steps.len() {
        return Err(StoreError::Newer { path: path.to_path_buf(), found, known });
    }
    for step in &steps[taken..] {
        conn.execute_batch(step.sql)?;
        (step.then)(conn)?;
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
        let steps = [Migration::sql("CREATE TABLE a (x)"), Migration::sql("ALTER TABLE a ADD COLUMN y")];
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

    #[test]
    fn migrating_version_1_counts_failures() {
        let conn = at(1);
        let old = r#"
            INSERT INTO blobs VALUES (1, zeroblob(32), '{"launch":{"attributes":{"version":"4.1"}}}'), (2, randomblob(32), '{"name":"a test"}');
            INSERT INTO launches VALUES (1, 'nightly', '7', NULL);
            INSERT INTO cases VALUES (1, 1, 'c1'), (2, 1, 'c2');
            INSERT INTO runs VALUES (1, 'a', 'p', 'done', 500, 600, 0, 0, zeroblob(32), zeroblob(32), zeroblob(32)),
                                    (2, 'b', 'p', 'done', 700, 800, 0, 0, zeroblob(32), zeroblob(32), zeroblob(32));
            INSERT INTO run_cases SELECT r.id * 10 + c.id, r.id, c.item, c.id, 'k', 'done', (SELECT hash FROM blobs WHERE id = 2)
              FROM runs r, cases c;
            INSERT INTO symptoms VALUES (5, 'f', 1, 1);
            INSERT INTO sightings VALUES (5, 1, 11, 510, 1, 510, 510), (5, 2, 12, 520, 2, 510, 520), (5, 3, 21, 710, 3, 510, 710);
        "#;
        conn.execute_batch(old).unwrap();
        migrate(&conn, Path::new("x"), STEPS).unwrap();
        let text = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        let seen = text("SELECT group_concat(concat_ws(' ', stamp, known, at, total, first_at, last_at), '; ') FROM sightings");
        assert_eq!(seen, "1 1 500 1 500 500; 2 2 500 2 500 500", "a failure once, at its launch's time");
        assert_eq!(text("SELECT concat_ws(' ', version, at, run) FROM launches"), "4.1 500 1");
        assert_eq!(text("SELECT concat_ws(' ', symptom, launch, stamp) FROM symptom_launches"), "5 1 1");
        assert_eq!(text("SELECT test FROM cases WHERE id = 2"), "a test");
    }

    #[test]
    fn version_7_takes_packed_values_and_keeps_plain_ones() {
        let conn = at(6);
        conn.execute_batch(
            "INSERT INTO blobs VALUES (1, zeroblob(32), 'a text');
             INSERT INTO events (run, rc, path, at, body, sum) VALUES (1, 2, '3', 4, '{\"type\":\"node_enter\"}', 5)",
        )
        .unwrap();
        migrate(&conn, Path::new("x"), STEPS).unwrap();
        conn.execute_batch("INSERT INTO blobs VALUES (2, randomblob(32), x'01'); UPDATE events SET run = 6").unwrap();
        let types = "SELECT group_concat(typeof(text)), (SELECT typeof(body) || run || sum FROM events) FROM blobs";
        let found: (String, String) = conn.query_row(types, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(found, ("text,blob".to_owned(), "text65".to_owned()));
        let check: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    }

    #[test]
    fn version_9_keeps_every_row_and_takes_packed_texts_of_facts() {
        let conn = at(8);
        conn.execute_batch(
            "INSERT INTO blobs VALUES (1, zeroblob(32), 'a text'), (7, randomblob(32), x'01');
             INSERT INTO launches (id, name, external) VALUES (1, 'nightly', '7');
             INSERT INTO cases (id, launch, item) VALUES (1, 1, 'c1');
             INSERT INTO runs VALUES (3, 'a', 'p', 'done', 500, 600, 0, 0, zeroblob(32), zeroblob(32), zeroblob(32), NULL);
             INSERT INTO run_cases VALUES (1, 3, 'c1', 1, 'k', 'done', zeroblob(32));
             INSERT INTO symptoms VALUES (5, 'f', 3, 1);
             INSERT INTO symptom_revisions VALUES (1, 5, 3, 1, 1, 't', 'an error', '', '');
             INSERT INTO rcas VALUES (6, 1, 1);
             INSERT INTO rca_revisions (rca, rc, stamp, message) VALUES (6, 1, 1, 'a message')",
        )
        .unwrap();
        migrate(&conn, Path::new("x"), STEPS).unwrap();
        conn.execute_batch("UPDATE rca_revisions SET human = 1; UPDATE symptom_revisions SET error = x'01' WHERE test = 'none'")
            .unwrap();
        let text = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(
            text("SELECT group_concat(concat_ws(' ', id, length(hash), typeof(text)), '; ') FROM blobs"),
            "1 32 text; 7 32 blob"
        );
        assert_eq!(text("SELECT error FROM symptom_revisions"), "an error");
        assert_eq!(text("SELECT message FROM rca_revisions"), "a message");
        assert!(!text("SELECT group_concat(name) FROM sqlite_schema WHERE tbl_name = 'blobs'").contains("autoindex"));
        let plan = "EXPLAIN QUERY PLAN SELECT id FROM blobs WHERE substr(hash, 1, 4) = substr(?1, 1, 4) AND hash = ?1";
        let plan: String = conn.query_row(plan, [[0_u8; 32]], |row| row.get(3)).unwrap();
        assert!(plan.contains("blobs_address"), "{plan}");
        conn.execute_batch("INSERT INTO rca_revisions (rca, rc, stamp, message) VALUES (6, 1, 2, x'01')").unwrap();
        assert_eq!(text("PRAGMA integrity_check"), "ok");
    }

    #[test]
    fn migrating_version_3_builds_the_index() {
        let old = r"
            INSERT INTO launches (id, name, external) VALUES (1, 'nightly', '7');
            INSERT INTO cases (id, launch, item) VALUES (1, 1, 'c1'), (2, 1, 'c2');
            INSERT INTO runs VALUES (3, 'a', 'p', 'done', 500, 600, 0, 0, zeroblob(32), zeroblob(32), zeroblob(32), NULL);
            INSERT INTO run_cases VALUES (1, 3, 'c1', 1, 'k', 'done', zeroblob(32)), (2, 3, 'c2', 2, 'k', 'done', zeroblob(32));
            INSERT INTO symptoms VALUES (5, 'f', 3, 1), (6, 'g', 3, 2);
            INSERT INTO symptom_revisions VALUES (1, 5, 3, 2, 1, '', 'lock lost', '', ''), (2, 5, 3, 1, 4, '', 'lock gone', '', ''),
                                                 (3, 6, 3, 2, 2, '', 'lock 7', '', '');
            CREATE TABLE symptom_terms (whatever)";
        let conn = at(3);
        conn.execute_batch(old).unwrap();
        migrate(&conn, Path::new("x"), STEPS).unwrap();
        let listed = |error: &str| {
            let mut rows = conn
                .prepare("SELECT concat_ws(' ', run, symptom, stamp) FROM symptom_terms WHERE term = ?1 ORDER BY symptom")
                .unwrap();
            let mut lists = Vec::new();
            for term in terms::terms("", error) {
                lists
                    .push(rows.query_map([term], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>());
            }
            lists.sort();
            lists
        };
        assert_eq!(listed("lock"), [["3 5 1", "3 6 2"]]);
        assert_eq!(listed("lost"), [["3 5 1"]]);
        assert_eq!(listed("gone"), [["3 5 4"]]);
        assert_eq!(listed("else"), [[""; 0]]);
    }
}
