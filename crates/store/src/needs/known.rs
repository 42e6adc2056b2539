//! Known symptoms visible to a case, in bounded lists.

use super::features::Features;
use super::short;
use crate::error::StoreError;
use crate::knowledge::FactScope;
use crate::packing::UnpackedText;
use crate::sql::{Connection, Row};
use rusqlite::types::ToSql;

/// Number of symptoms of earlier runs, and of this one, that are compared with every failure. Symptoms that share discriminating terms, the
/// test, the component or the key are found however old they are; these few serve errors that consist of common words.
const MAX_LATEST: i64 = 50;

/// A symptom as described in the run that found it.
#[derive(Clone, Debug)]
pub(super) struct KnownSymptom {
    pub(super) id: i64,
    /// Row id of the case that describes it.
    pub(super) case: i64,
    pub(super) test: String,
    /// May be truncated.
    pub(super) error: String,
    pub(super) category: String,
    /// May be empty.
    pub(super) component: String,
    /// Features for comparison.
    pub(super) features: Features,
}

/// Which runs' symptoms to search.
#[derive(Clone, Copy, Debug)]
pub(super) enum SymptomScope {
    /// Runs that began before the reader's, the latest first.
    Earlier,
    /// The reader's own run.
    Here,
}

impl SymptomScope {
    fn rest(self) -> &'static str {
        match self {
            Self::Earlier => "AND run < ?1 ORDER BY run DESC, symptom LIMIT 100",
            Self::Here => "AND run = ?1 ORDER BY symptom LIMIT 100",
        }
    }
}

/// Up to 100 symptoms of a test.
pub(super) fn of_test(
    conn: &Connection,
    run: i64,
    scope: FactScope,
    found: SymptomScope,
    test: &str,
) -> Result<Vec<KnownSymptom>, StoreError> {
    current(conn, run, scope, "test = ?6", found.rest(), &test)
}

/// Up to 100 symptoms of a component.
pub(super) fn of_component(
    conn: &Connection,
    run: i64,
    scope: FactScope,
    found: SymptomScope,
    component: &str,
) -> Result<Vec<KnownSymptom>, StoreError> {
    current(conn, run, scope, "component = ?6 AND component <> ''", found.rest(), &component)
}

/// The visible symptoms among some ids.
pub(super) fn of_ids(conn: &Connection, run: i64, scope: FactScope, ids: &[i64]) -> Result<Vec<KnownSymptom>, StoreError> {
    let of_ids = "run <= ?1 AND symptom IN (SELECT value FROM json_each(?6))";
    current(conn, run, scope, of_ids, "ORDER BY symptom", &serde_json::json!(ids).to_string())
}

/// Up to 50 symptoms seen with cases of a recall key.
pub(super) fn of_recall_key(conn: &Connection, run: i64, scope: FactScope, key: &str) -> Result<Vec<KnownSymptom>, StoreError> {
    let of_key = "run <= ?1 AND symptom IN (SELECT symptom FROM symptom_keys k WHERE recall_key = ?6 AND (stamp <= ?2 \
         OR EXISTS (SELECT 1 FROM sightings s JOIN run_cases c ON c.id = s.rc WHERE s.symptom = k.symptom AND s.stamp <= ?3 \
         AND s.rc >= ?4 AND s.rc < ?5 AND c.recall_key = ?6)) ORDER BY symptom LIMIT 50)";
    current(conn, run, scope, of_key, "ORDER BY symptom", &key)
}

/// The symptoms that earlier runs found last, the latest first.
pub(super) fn recent(conn: &Connection, run: i64, scope: FactScope) -> Result<Vec<KnownSymptom>, StoreError> {
    let latest =
        "run < ?1 AND symptom IN (SELECT id FROM symptoms WHERE run < ?1 AND stamp <= ?2 ORDER BY run DESC, id LIMIT ?6)";
    current(conn, run, scope, latest, "ORDER BY run DESC, symptom", &MAX_LATEST)
}

/// The symptoms that this run found first, in the order of its cases.
pub(super) fn recent_here(conn: &Connection, run: i64, scope: FactScope) -> Result<Vec<KnownSymptom>, StoreError> {
    // The first revisions by the run's first cases; nearly all are still current.
    let first = "r.id IN (SELECT id FROM symptom_revisions WHERE run = ?1 AND rc >= ?4 AND stamp > ?2 AND stamp <= ?3 ORDER BY rc, id LIMIT ?6)";
    current(conn, run, scope, first, "ORDER BY rc, symptom", &MAX_LATEST)
}

/// The current descriptions that meet a condition, among the visible facts. A visible fact belongs to an earlier run or to this one; a
/// condition that says which keeps the indexes from scanning invisible rows.
fn current(
    conn: &Connection,
    run: i64,
    scope: FactScope,
    condition: &str,
    order: &str,
    value: &dyn ToSql,
) -> Result<Vec<KnownSymptom>, StoreError> {
    let mut rows = conn.prepare_cached(&format!(
        "SELECT symptom, rc, test, error, category, component FROM symptom_revisions r \
         WHERE {condition} AND (stamp <= ?2 OR (stamp <= ?3 AND rc >= ?4 AND rc < ?5)) \
         AND NOT EXISTS (SELECT 1 FROM symptom_revisions o WHERE o.symptom = r.symptom \
         AND (o.stamp <= ?2 OR (o.stamp <= ?3 AND o.rc >= ?4 AND o.rc < ?5)) \
         AND (o.rc < r.rc OR (o.rc = r.rc AND o.id > r.id))) {order}"
    ))?;
    let inputs: [&dyn ToSql; 6] = [&run, &scope.start, &scope.upto, &scope.first, &scope.before, value];
    let known = rows.query_map(inputs, KnownSymptom::of_row)?;
    Ok(known.collect::<Result<_, _>>()?)
}

impl KnownSymptom {
    fn of_row(row: &Row<'_>) -> crate::sql::Result<Self> {
        let (test, UnpackedText(error)): (String, _) = (row.get(2)?, row.get(3)?);
        Ok(Self {
            id: row.get(0)?,
            case: row.get(1)?,
            category: row.get(4)?,
            component: row.get(5)?,
            features: Features::new(&test, &error),
            error: short(error),
            test,
        })
    }
}
