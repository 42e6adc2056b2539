//! `rcas.of_root`: the root causes that share the root of a case; `roots.said`: the decisions on roots.

use super::recent::CreatedRca;
use super::{ActiveQuery, StoreSnapshot};
use crate::error::StoreError;
use crate::sql::{Connection, params};
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};

/// Maximum number of root causes returned.
const MAX_RESULTS: i64 = 10;
/// Maximum number of merges returned, the latest.
const MAX_MERGES: i64 = 1000;

/// Answers `rcas.of_root`: the first of each root first. Those that turned out to be another one are left out.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    if about.root.is_empty() {
        return Ok(json!([]));
    }
    let case = needs.place(&about.case.id)?;
    let found = needs.read_store(|conn, snapshot| of_root(needs, (conn, snapshot), about.root, case))?;
    found.iter().filter(|created| created.status() != "duplicate").map(|created| created.record(needs)).collect()
}

fn of_root(
    needs: &ActiveQuery<'_>,
    (conn, snapshot): (&Connection, StoreSnapshot),
    root: &str,
    case: i64,
) -> Result<Vec<CreatedRca>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT rcas.id, rcas.rc FROM rca_roots r JOIN rcas ON rcas.id = r.rca WHERE root = ?1 AND (r.stamp <= ?2 OR \
         (r.stamp <= ?3 AND rcas.rc >= ?4 AND rcas.rc < ?5)) ORDER BY rcas.rc, rcas.id LIMIT ?6",
    )?;
    let inputs = params![root, snapshot.start, snapshot.upto, snapshot.first, case, MAX_RESULTS];
    let found = rows.query_map(inputs, |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<(i64, i64)>, _>>()?;
    found.into_iter().map(|(rca, case)| CreatedRca::read(needs, (conn, snapshot), rca, case)).collect()
}

/// Answers `roots.said`, from before the run began.
pub(super) fn said(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    needs.read_store(|conn, snapshot| {
        let mut pinned = conn.prepare_cached(
            "SELECT other FROM root_words WHERE recall_key = ?1 AND stamp <= ?2 AND ?1 <> '' ORDER BY id DESC LIMIT 1",
        )?;
        let pinned: Option<String> =
            pinned.query_map(params![about.case.recall_key, snapshot.start], |row| row.get(0))?.next().transpose()?;
        let mut merged = conn.prepare_cached(
            "SELECT root, other FROM root_words WHERE root IS NOT NULL AND stamp <= ?1 ORDER BY id DESC LIMIT ?2",
        )?;
        let merged = merged.query_map(params![snapshot.start, MAX_MERGES], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let merged = merged.collect::<Result<Vec<(String, String)>, _>>()?;
        Ok(json!({ "pinned": pinned, "merged": merged }))
    })
}
