//! `rcas.of_symptom`: root causes of the symptoms that are like this case's failure.

use super::{Snapshot, StoreNeeds, kept_under, short, similar};
use crate::store::error::StoreError;
use crate::store::knowledge::{Rca, rca_as_of};
use crate::walk::ports::About;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How many are returned at most.
const MOST: i64 = 10;

/// A root cause of a symptom.
#[derive(Clone, Debug)]
pub(super) struct Linked {
    rca: Rca,
    confidence: f64,
}

/// The answer to the query: in the order of the symptoms, for each the surest first, each root cause once.
pub(super) fn answer(needs: &StoreNeeds, about: &About<'_>) -> Result<Value, StoreError> {
    let mut told = BTreeSet::new();
    let mut rcas = Vec::new();
    for hit in similar::hits(needs, about.case)?.iter() {
        let symptom = hit.known.id;
        let linked =
            kept_under(&needs.rcas_of, symptom, || Ok(needs.ask(|conn, snapshot| linked(conn, snapshot, symptom))?.into()))?;
        for link in linked.iter() {
            if told.insert(link.rca.id) {
                rcas.push(link.to_json(symptom));
            }
        }
    }
    rcas.truncate(usize::try_from(MOST).unwrap_or_default());
    Ok(rcas.into())
}

/// The root causes of a symptom, the surest first; among equals those of the latest cases.
fn linked(conn: &Connection, snapshot: Snapshot, symptom: i64) -> Result<Vec<Linked>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT rca, confidence FROM symptom_rcas l JOIN rcas ON rcas.id = rca \
         WHERE symptom = ?1 AND l.stamp <= ?2 AND NOT EXISTS (SELECT 1 FROM symptom_rcas o \
         WHERE o.symptom = l.symptom AND o.rca = l.rca AND o.stamp <= ?2 AND (o.rc > l.rc OR (o.rc = l.rc AND o.id > l.id))) \
         ORDER BY confidence DESC, rcas.rc DESC, rca LIMIT ?3",
    )?;
    let links = rows.query_map(params![symptom, snapshot.stamp, MOST], |row| Ok((row.get(0)?, row.get(1)?)))?;
    links
        .map(|link| {
            let (rca, confidence) = link?;
            let mut rca = rca_as_of(conn, rca, snapshot.stamp)?;
            rca.message = short(rca.message);
            Ok(Linked { rca, confidence })
        })
        .collect()
}

impl Linked {
    fn to_json(&self, symptom: i64) -> Value {
        let Self { rca, confidence } = self;
        json!({
            "id": rca.id,
            "symptom": symptom,
            "title": rca.title,
            "message": rca.message,
            "defect_type": rca.defect_type,
            "component": rca.component,
            "status": rca.status,
            "confidence": confidence,
        })
    }
}
