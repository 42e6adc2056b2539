//! `rcas.recent`: the root causes created last, and the first ones of this run.

use super::{ActiveQuery, StoreSnapshot, cached, short};
use crate::error::StoreError;
use crate::knowledge::Rca;
use crate::sql::{Connection, params};
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum number of each returned.
const MAX_RESULTS: usize = 20;

/// The number of cases linked to a root cause, of those that a run sees.
const CASES: &str = "(SELECT count(DISTINCT known) FROM case_rcas l JOIN run_cases ON run_cases.id = l.rc WHERE l.rca = rcas.id \
     AND (l.stamp <= ?1 OR (l.stamp <= ?2 AND l.rc >= ?3 AND l.rc < ?4)))";

/// A root cause with the case that created it and the number of cases linked to it.
#[derive(Clone, Debug)]
pub(super) struct CreatedRca {
    case: i64,
    same_run: bool,
    rca: Rca,
    cases: i64,
}

/// Answers the query: of earlier runs, the latest run first and in a run the last case first; then those of this run's cases before this
/// one, in order.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    let all: Arc<[CreatedRca]> =
        cached(&needs.recent_rcas, || Ok(needs.read_store(|conn, snapshot| recent(needs, conn, snapshot))?.into()))?;
    if !all.iter().any(|created| created.same_run) {
        return all.iter().map(|created| created.record(needs)).collect();
    }
    let case = needs.place(&about.case.id)?;
    all.iter().filter(|created| !created.same_run || created.case < case).map(|created| created.record(needs)).collect()
}

fn recent(needs: &ActiveQuery<'_>, conn: &Connection, snapshot: StoreSnapshot) -> Result<Vec<CreatedRca>, StoreError> {
    // Without those that reviews took from every case that had them.
    let held = "(NOT EXISTS (SELECT 1 FROM overturned WHERE rca = rcas.id AND message IS NULL AND stamp <= ?1) \
         OR EXISTS (SELECT 1 FROM case_rcas l WHERE l.rca = rcas.id AND l.stamp <= ?1 AND NOT EXISTS \
         (SELECT 1 FROM overturned o WHERE o.rca = l.rca AND o.rc = l.rc AND o.message IS NULL AND o.stamp <= ?1)))";
    let earlier =
        format!("SELECT id, rc, {CASES} FROM rcas WHERE stamp <= ?1 AND {held} ORDER BY rc DESC, stamp DESC, id LIMIT ?5");
    // A case that investigates again replaces its statements: it has one root cause, besides those that a review adds.
    let here = format!(
        "SELECT id, rc, {CASES} FROM rcas WHERE stamp > ?1 AND stamp <= ?2 AND rc >= ?3 AND rc < ?4 ORDER BY rc, id LIMIT ?5"
    );
    let mut found = Vec::new();
    for (sql, same_run) in [(earlier, false), (here, true)] {
        if same_run && snapshot.upto == snapshot.start {
            continue;
        }
        let mut rows = conn.prepare_cached(&sql)?;
        let most = i64::try_from(MAX_RESULTS).unwrap_or(i64::MAX);
        let inputs = params![snapshot.start, snapshot.upto, snapshot.first, snapshot.end, most];
        let created = rows.query_map(inputs, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for created in created {
            let (rca, case, cases) = created?;
            found.push(CreatedRca { cases, ..CreatedRca::seen(needs, rca, case, same_run)? });
        }
    }
    Ok(found)
}

impl CreatedRca {
    /// A root cause with its cases, as a run sees it.
    pub(super) fn read(
        needs: &ActiveQuery<'_>,
        (conn, snapshot): (&Connection, StoreSnapshot),
        rca: i64,
        case: i64,
    ) -> Result<Self, StoreError> {
        let same_run = (snapshot.first..snapshot.end).contains(&case);
        let mut cases = conn.prepare_cached(&format!("SELECT {CASES} FROM rcas WHERE id = ?5"))?;
        let inputs = params![snapshot.start, snapshot.upto, snapshot.first, snapshot.end, rca];
        let cases = cases.query_row(inputs, |row| row.get(0))?;
        Ok(Self { cases, ..Self::seen(needs, rca, case, same_run)? })
    }

    fn seen(needs: &ActiveQuery<'_>, rca: i64, case: i64, same_run: bool) -> Result<Self, StoreError> {
        // The statements of the owner, and for a root cause of an earlier run those made at that time.
        let mut rca = needs.rca(rca, if same_run { case + 1 } else { 0 })?;
        rca.message = short(rca.message);
        Ok(Self { case, same_run, rca, cases: 0 })
    }

    /// Its status.
    pub(super) fn status(&self) -> &str {
        &self.rca.status
    }

    pub(super) fn record(&self, needs: &ActiveQuery<'_>) -> Result<Value, StoreError> {
        needs.with_history(self.to_json(), true, self.rca.id)
    }

    fn to_json(&self) -> Value {
        let Self { rca, cases, same_run, .. } = self;
        json!({
            "id": rca.id,
            "title": rca.title,
            "message": rca.message,
            "defect_type": rca.defect_type,
            "component": rca.component,
            "status": rca.status,
            "confidence": rca.convergence,
            "cases": cases,
            "same_run": same_run,
            "status_since": rca.status_change.as_ref().map(|change| change.at),
        })
    }
}
