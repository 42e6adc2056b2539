//! `reviews`: how often decisions on root causes held.

use super::{ActiveQuery, StoreSnapshot, cached};
use crate::error::StoreError;
use crate::sql::{Connection, params};
use serde_json::{Value, json};

/// Maximum number of statements, the latest first.
const STATEMENTS: i64 = 500;

/// Answers the query. The answer is the same for all cases of a run, since it does not depend on the run's own facts.
pub(super) fn answer(needs: &ActiveQuery<'_>) -> Result<Value, StoreError> {
    cached(&needs.reviews, || {
        let tally = ["approve", "overturn"].into_iter().zip(needs.read_store(tally)?);
        let to_json = |(decision, (given, taken_back)): (&str, (i64, i64))| json!({ "decision": decision, "given": given, "taken_back": taken_back });
        Ok(tally.map(to_json).collect())
    })
}

/// The numbers of approvals and of corrections: those that people gave, and those that a person took back later. A correction is a link that
/// was recorded together with the retraction of another.
fn tally(conn: &Connection, snapshot: StoreSnapshot) -> Result<[(i64, i64); 2], StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM overturned o WHERE o.symptom = l.symptom AND o.rc = l.rc AND o.stamp = l.stamp), \
         EXISTS (SELECT 1 FROM overturned o WHERE o.symptom = l.symptom AND o.rca = l.rca AND o.by = 'human' AND o.stamp > l.stamp AND o.stamp <= ?1) \
         FROM symptom_rcas l WHERE human <> 0 AND stamp <= ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let mut tally = [(0, 0); 2];
    for row in rows.query_map(params![snapshot.start, STATEMENTS], |row| Ok((row.get::<_, bool>(0)?, row.get::<_, bool>(1)?)))? {
        let (corrects, taken_back) = row?;
        let (given, back) = &mut tally[usize::from(corrects)];
        *given += 1;
        *back += i64::from(taken_back);
    }
    Ok(tally)
}
