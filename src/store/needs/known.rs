//! Known symptoms as a run may see them, in bounded lists.

use super::features::Features;
use super::{Snapshot, short};
use crate::store::error::StoreError;
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row};

/// A symptom as it was described in the run that found it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Its id.
    pub(super) id: i64,
    /// The test's name.
    pub(super) test: String,
    /// The error's text, perhaps cut.
    pub(super) error: String,
    /// The category.
    pub(super) category: String,
    /// The component, or empty.
    pub(super) component: String,
    /// What is compared of it.
    pub(super) features: Features,
}

/// Up to 100 symptoms of a test, those found by the latest runs first.
pub(super) fn of_test(conn: &Connection, snapshot: Snapshot, test: &str) -> Result<Vec<Known>, StoreError> {
    current(conn, snapshot, "test = ?3", "ORDER BY run DESC, symptom LIMIT 100", &test)
}

/// Up to 100 symptoms of a component, those found by the latest runs first.
pub(super) fn of_component(conn: &Connection, snapshot: Snapshot, component: &str) -> Result<Vec<Known>, StoreError> {
    current(conn, snapshot, "component = ?3 AND component <> ''", "ORDER BY run DESC, symptom LIMIT 100", &component)
}

/// Up to 50 symptoms that cases with a recall key were seen with.
pub(super) fn of_recall_key(conn: &Connection, snapshot: Snapshot, key: &str) -> Result<Vec<Known>, StoreError> {
    let of_key = "symptom IN (SELECT symptom FROM symptom_keys WHERE recall_key = ?3 AND stamp <= ?2 ORDER BY symptom LIMIT 50)";
    current(conn, snapshot, of_key, "ORDER BY symptom", &key)
}

/// Up to 200 symptoms, those found by the latest runs first.
pub(super) fn recent(conn: &Connection, snapshot: Snapshot) -> Result<Vec<Known>, StoreError> {
    let latest = "symptom IN (SELECT id FROM symptoms WHERE run < ?1 AND stamp <= ?2 ORDER BY run DESC, id LIMIT ?3)";
    current(conn, snapshot, latest, "ORDER BY run DESC, symptom", &200)
}

/// The current descriptions that fit a condition. A visible fact is always of an earlier run; saying so keeps the indexes
/// from walking over all that this run has written itself.
fn current(
    conn: &Connection,
    snapshot: Snapshot,
    condition: &str,
    order: &str,
    value: &dyn ToSql,
) -> Result<Vec<Known>, StoreError> {
    let mut rows = conn.prepare_cached(&format!(
        "SELECT symptom, test, error, category, component FROM symptom_revisions r \
         WHERE {condition} AND run < ?1 AND stamp <= ?2 AND NOT EXISTS (SELECT 1 FROM symptom_revisions o \
         WHERE o.symptom = r.symptom AND o.stamp <= ?2 AND (o.rc < r.rc OR (o.rc = r.rc AND o.id > r.id))) {order}"
    ))?;
    let known = rows.query_map([&snapshot.run as &dyn ToSql, &snapshot.stamp, value], Known::of_row)?;
    Ok(known.collect::<Result<_, _>>()?)
}

impl Known {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (test, error): (String, String) = (row.get("test")?, row.get("error")?);
        Ok(Self {
            id: row.get("symptom")?,
            category: row.get("category")?,
            component: row.get("component")?,
            features: Features::new(&test, &error),
            error: short(error),
            test,
        })
    }
}
