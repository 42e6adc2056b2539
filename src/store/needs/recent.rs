//! `rcas.recent`: the root causes created last.

use super::{Snapshot, StoreNeeds, kept, short};
use crate::store::error::StoreError;
use crate::store::knowledge::{Rca, rca_as_of};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// How many are returned at most.
const MOST: i64 = 20;

/// The answer to the query: the latest run's first, in a run the last case's first.
pub(super) fn answer(needs: &StoreNeeds) -> Result<Value, StoreError> {
    kept(&needs.recent_rcas, || {
        let rcas = needs.ask(recent)?;
        Ok(rcas.iter().map(|(rca, cases)| to_json(rca, *cases)).collect())
    })
}

fn recent(conn: &Connection, snapshot: Snapshot) -> Result<Vec<(Rca, i64)>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT id, (SELECT count(DISTINCT known) FROM case_rcas l JOIN run_cases ON run_cases.id = l.rc \
         WHERE l.rca = rcas.id AND l.stamp <= ?1) FROM rcas WHERE stamp <= ?1 ORDER BY rc DESC, stamp DESC, id LIMIT ?2",
    )?;
    let found = rows.query_map(params![snapshot.stamp, MOST], |row| Ok((row.get(0)?, row.get(1)?)))?;
    found
        .map(|found| {
            let (rca, cases) = found?;
            let mut rca = rca_as_of(conn, rca, snapshot.stamp)?;
            rca.message = short(rca.message);
            Ok((rca, cases))
        })
        .collect()
}

fn to_json(rca: &Rca, cases: i64) -> Value {
    json!({
        "id": rca.id,
        "title": rca.title,
        "message": rca.message,
        "defect_type": rca.defect_type,
        "component": rca.component,
        "status": rca.status,
        "cases": cases,
    })
}
