//! `accuracy`: the share of a walker's answers at a node that reviews confirmed.

use super::{ActiveQuery, StoreSnapshot, cached};
use crate::store::error::StoreError;
use crate::store::read::of_kinds;
use crate::walk::{EventBody, EventKind};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of reviewed cases, the latest first.
const CASES: i64 = 500;

/// Status that a review gives a case (`set_case_status`).
const REVIEWED: &str = "reviewed";

/// Answers the query. The answer is the same for all cases of a run, since it does not depend on the run's own facts.
pub(super) fn answer(needs: &ActiveQuery<'_>) -> Result<Value, StoreError> {
    cached(&needs.accuracy, || match needs.read_store(counted)? {
        Value::Null => Ok(json!([])),
        found => Ok(found),
    })
}

/// Number of reviewed and of confirmed answers.
type ReviewTally = BTreeMap<(String, String), (i64, i64)>;

fn counted(conn: &Connection, snapshot: StoreSnapshot) -> Result<Value, StoreError> {
    let mut tally = ReviewTally::new();
    let mut cases = conn.prepare_cached(
        "SELECT s.rc, r.run, EXISTS (SELECT 1 FROM overturned o WHERE o.rc = s.rc AND o.stamp <= ?1) FROM \
         (SELECT DISTINCT rc FROM case_statuses WHERE status = ?2 AND stamp <= ?1 ORDER BY rc DESC LIMIT ?3) s \
         JOIN run_cases r ON r.id = s.rc",
    )?;
    let cases = cases.query_map(params![snapshot.start, REVIEWED, CASES], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for case in cases {
        let (rc, run, overturned): (i64, i64, bool) = case?;
        for answered in answers(conn, run, rc)? {
            let (reviewed, stood) = tally.entry(answered).or_default();
            *reviewed += 1;
            *stood += i64::from(!overturned);
        }
    }
    let to_json = |((walker, node), (reviewed, stood)): ((String, String), (i64, i64))| {
        #[allow(clippy::cast_precision_loss)]
        let share = stood as f64 / reviewed as f64;
        json!({ "walker": walker, "node": node, "reviewed": reviewed, "stood": stood, "share": share })
    };
    Ok(tally.into_iter().map(to_json).collect())
}

/// The answerer of each node of a case's own walk; of several answers the last one is what was reviewed.
fn answers(conn: &Connection, run: i64, rc: i64) -> Result<Vec<(String, String)>, StoreError> {
    let (mut walker, mut by_node) = (None, BTreeMap::<String, String>::new());
    for (_, event) in of_kinds(conn, (run, rc), i64::MAX, &[EventKind::WalkerSwitch, EventKind::NodeEnter])? {
        match event.what {
            _ if event.path.contains('/') => {}
            EventBody::WalkerSwitch { to, .. } => walker = Some(to),
            EventBody::NodeEnter { node } => {
                if let Some(walker) = &walker {
                    by_node.insert(node.into(), walker.to_string());
                }
            }
            _ => {}
        }
    }
    Ok(by_node.into_iter().map(|(node, walker)| (walker, node)).collect())
}
