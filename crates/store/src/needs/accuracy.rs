//! `accuracy`: the share of a walker's answers at a node that reviews confirmed.

use super::{ActiveQuery, cached};
use crate::error::StoreError;
use crate::open::Store;
use crate::read::of_kinds;
use crate::sql::{Connection, params};
use asterisk_walk::{EventBody, EventKind};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum number of reviewed cases, the latest first.
const CASES: i64 = 500;

/// Status that a review gives a case (`set_case_status`).
const REVIEWED: &str = "reviewed";

/// How often a walker's answers at a node stood when their cases were reviewed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WalkerAccuracy {
    pub walker: String,
    pub node: String,
    /// Reviewed cases.
    pub reviewed: i64,
    /// The number of those that were not overturned.
    pub stood: i64,
    /// The share of those, 0 to 1.
    pub share: f64,
}

impl Store {
    /// The accuracy of walkers over the latest 500 reviewed cases, by walker and node.
    pub fn walker_accuracy(&self) -> Result<Vec<WalkerAccuracy>, StoreError> {
        self.read(|conn| counted(conn, i64::MAX))
    }
}

/// Answers the query. The answer is the same for all cases of a run, since it does not depend on the run's own facts.
pub(super) fn answer(needs: &ActiveQuery<'_>) -> Result<Value, StoreError> {
    cached(&needs.accuracy, || Ok(json!(needs.read_store(|conn, snapshot| counted(conn, snapshot.start))?)))
}

/// Number of reviewed and of confirmed answers.
type ReviewTally = BTreeMap<(String, String), (i64, i64)>;

/// Counts cases reviewed up to a stamp.
fn counted(conn: &Connection, upto: i64) -> Result<Vec<WalkerAccuracy>, StoreError> {
    let mut tally = ReviewTally::new();
    let mut cases = conn.prepare_cached(
        "SELECT s.rc, r.run, EXISTS (SELECT 1 FROM overturned o WHERE o.rc = s.rc AND o.stamp <= ?1) FROM \
         (SELECT DISTINCT rc FROM case_statuses WHERE status = ?2 AND stamp <= ?1 ORDER BY rc DESC LIMIT ?3) s \
         JOIN run_cases r ON r.id = s.rc",
    )?;
    let cases = cases.query_map(params![upto, REVIEWED, CASES], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for case in cases {
        let (rc, run, overturned): (i64, i64, bool) = case?;
        for answered in answers(conn, run, rc)? {
            let (reviewed, stood) = tally.entry(answered).or_default();
            *reviewed += 1;
            *stood += i64::from(!overturned);
        }
    }
    let accuracy = |((walker, node), (reviewed, stood)): ((String, String), (i64, i64))| {
        #[allow(clippy::cast_precision_loss)]
        let share = stood as f64 / reviewed as f64;
        WalkerAccuracy { walker, node, reviewed, stood, share }
    };
    Ok(tally.into_iter().map(accuracy).collect())
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
