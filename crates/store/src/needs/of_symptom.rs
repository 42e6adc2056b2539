//! `rcas.of_symptom`: root causes of the symptoms similar to the case's failure.

use super::{ActiveQuery, StoreSnapshot, cached_under, short, similar};
use crate::error::StoreError;
use crate::knowledge::Rca;
use crate::overturned::OverturnedLink;
use crate::sql::{Connection, params};
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number returned.
const MAX_RESULTS: usize = 10;

/// A link from a symptom to a root cause, as visible to a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SymptomLink {
    rca: i64,
    confidence: f64,
    /// Whether a person recorded it.
    reviewed: bool,
    /// For links of this run: the case that recorded it.
    case: Option<i64>,
    same_run: bool,
}

/// Answers the query: in the order of the symptoms, for each what a person said first, then the highest confidence, each root cause once.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    let case = needs.place(&about.case.id)?;
    let mut known_rcas = BTreeSet::new();
    let mut rcas = Vec::new();
    for hit in similar::hits(needs, about.case)?.iter() {
        let symptom = hit.known.id;
        let links: Arc<[SymptomLink]> = cached_under(&needs.rcas_of, symptom, || {
            Ok(needs.read_store(|conn, snapshot| links(conn, snapshot, symptom))?.into())
        })?;
        let overturned = needs.overturned(symptom)?;
        known_rcas.extend(overturned.iter().filter(|over| !over.replaced).map(|over| over.rca));
        for link in links.iter().filter(|link| link.case.is_none_or(|other| other < case)).take(MAX_RESULTS) {
            if rcas.len() < MAX_RESULTS && known_rcas.insert(link.rca) {
                let rca = needs.rca(link.rca, case)?;
                rcas.push(needs.with_history(link.to_json(symptom, rca), true, link.rca)?);
            }
        }
        for over in overturned.iter() {
            if rcas.len() < MAX_RESULTS {
                rcas.push(needs.with_history(overturned_json(symptom, over), true, over.rca)?);
            }
        }
    }
    Ok(rcas.into())
}

/// The root causes of a symptom, those that a person linked first, then the highest confidence. Of equal confidence, those of earlier runs
/// come first, the latest cases first, then those of this run in the order of its cases. A pair known from before this run is not repeated
/// for it. A person's link stands whatever runs say of the pair later.
fn links(conn: &Connection, snapshot: StoreSnapshot, symptom: i64) -> Result<Vec<SymptomLink>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT rca, confidence, human FROM symptom_rcas l JOIN rcas ON rcas.id = rca \
         WHERE symptom = ?1 AND l.stamp <= ?2 AND NOT EXISTS (SELECT 1 FROM symptom_rcas o \
         WHERE o.symptom = l.symptom AND o.rca = l.rca AND o.stamp <= ?2 AND (o.human, o.rc, o.id) > (l.human, l.rc, l.id)) \
         ORDER BY human DESC, confidence DESC, rcas.rc DESC, rca LIMIT ?3",
    )?;
    let most = i64::try_from(MAX_RESULTS).unwrap_or(i64::MAX);
    let earlier = rows.query_map(params![symptom, snapshot.start, most], |row| {
        Ok(SymptomLink { rca: row.get(0)?, confidence: row.get(1)?, reviewed: row.get(2)?, case: None, same_run: false })
    })?;
    let mut links: Vec<SymptomLink> = earlier.collect::<Result<_, _>>()?;
    if snapshot.upto > snapshot.start {
        // For each pair the last statement of the first case that recorded it.
        let mut rows = conn.prepare_cached(
            "SELECT rca, confidence, human, l.rc, rcas.stamp > ?2 FROM symptom_rcas l JOIN rcas ON rcas.id = rca \
             WHERE symptom = ?1 AND l.rc >= ?4 AND l.rc < ?5 AND l.stamp > ?2 AND l.stamp <= ?3 ORDER BY l.rc, l.id DESC",
        )?;
        let inputs = params![symptom, snapshot.start, snapshot.upto, snapshot.first, snapshot.end];
        let here = rows.query_map(inputs, |row| {
            Ok(SymptomLink {
                rca: row.get(0)?,
                confidence: row.get(1)?,
                reviewed: row.get(2)?,
                case: Some(row.get(3)?),
                same_run: row.get(4)?,
            })
        })?;
        let mut known_rcas: BTreeSet<i64> = links.iter().map(|link| link.rca).collect();
        for link in here {
            let link = link?;
            if known_rcas.insert(link.rca) {
                links.push(link);
            }
        }
        // Stable: equal confidences stay in the order described above.
        links.sort_by(|a, b| b.reviewed.cmp(&a.reviewed).then(b.confidence.total_cmp(&a.confidence)));
    }
    Ok(links)
}

impl SymptomLink {
    fn to_json(self, symptom: i64, rca: Rca) -> Value {
        json!({
            "id": rca.id,
            "symptom": symptom,
            "title": rca.title,
            "message": short(rca.message),
            "defect_type": rca.defect_type,
            "component": rca.component,
            "status": rca.status,
            "confidence": self.confidence,
            "reviewed": self.reviewed,
            "same_run": self.same_run,
            "status_since": rca.status_change.as_ref().map(|change| change.at),
            "status_by": rca.status_change.as_ref().map_or("", |change| &change.by),
            "overturned": false,
            "replaced": false,
            "by": "",
        })
    }
}

/// A revoked root cause.
fn overturned_json(symptom: i64, over: &OverturnedLink) -> Value {
    json!({
        "id": over.rca,
        "symptom": symptom,
        "title": over.title,
        "message": short(over.message.clone()),
        "defect_type": over.defect_type,
        "component": "",
        "status": "overturned",
        "confidence": 0.0,
        "reviewed": false,
        "same_run": false,
        "status_since": null,
        "status_by": "",
        "overturned": true,
        "replaced": over.replaced,
        "by": over.by,
    })
}
