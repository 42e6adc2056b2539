//! `symptoms.similar`: known symptoms like this case's failure.

use super::features::Features;
use super::known::{Known, of_component, of_recall_key, of_test, recent};
use super::{Snapshot, StoreNeeds, kept, kept_under};
use crate::clock::Timestamp;
use crate::model::{Case, Hash};
use crate::store::error::StoreError;
use crate::walk::About;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many are returned at most.
const MOST: usize = 10;
/// Less than this in common is chance, of no use to anyone.
const LEAST_LIKE: f64 = 0.1;

/// A symptom like a case's failure.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    /// The symptom.
    pub(super) known: Known,
    /// How like it is, 0 to 1.
    score: f64,
    seen: Seen,
}

/// Where and when a symptom was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    total: i64,
    first: Timestamp,
    last: Timestamp,
}

/// The answer to the query.
pub(super) fn answer(needs: &StoreNeeds, about: &About<'_>) -> Result<Value, StoreError> {
    Ok(hits(needs, about.case)?.iter().map(Hit::to_json).collect())
}

/// Symptoms with the case's recall key first (score 1), then others by the likeness of their words: those of the same test,
/// of the same component (if the case has an attribute `component`), and the ones found last are considered. Ties are
/// broken by how often a symptom was seen, then by its id.
pub(super) fn hits(needs: &StoreNeeds, case: &Case) -> Result<Arc<[Hit]>, StoreError> {
    let component = case.attributes.get("component").unwrap_or_default();
    let inputs = json!([case.recall_key, case.name, case.error_message, component]);
    kept_under(&needs.hits, Hash::of_json(&inputs), || {
        let recent = kept(&needs.recent_symptoms, || Ok(needs.ask(recent)?.into()))?;
        needs.ask(|conn, snapshot| {
            let mut found: BTreeMap<i64, (f64, Known)> = BTreeMap::new();
            if !case.recall_key.is_empty() {
                let same = of_recall_key(conn, snapshot, &case.recall_key)?;
                found.extend(same.into_iter().map(|known| (known.id, (1.0, known))));
            }
            let ours = Features::new(&case.name, &case.error_message);
            let others = of_test(conn, snapshot, &case.name)?.into_iter();
            let others = others.chain(of_component(conn, snapshot, component)?).chain(recent.iter().cloned());
            for known in others {
                let score = ours.likeness(&known.features);
                if score >= LEAST_LIKE {
                    found.entry(known.id).or_insert((score, known));
                }
            }
            best(conn, snapshot, found.into_values().collect()).map(Into::into)
        })
    })
}

fn best(conn: &Connection, snapshot: Snapshot, mut found: Vec<(f64, Known)>) -> Result<Vec<Hit>, StoreError> {
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    // All that tie with the last of the best stay until it is known how often they were seen.
    let worst = found.get(MOST - 1).map_or(0.0, |(score, _)| *score);
    found.retain(|(score, _)| *score >= worst);
    let mut hits = Vec::with_capacity(found.len());
    for (score, known) in found {
        hits.push(Hit { seen: seen(conn, snapshot, known.id)?, score, known });
    }
    hits.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| (Reverse(a.seen.total), a.known.id).cmp(&(Reverse(b.seen.total), b.known.id)))
    });
    hits.truncate(MOST);
    Ok(hits)
}

fn seen(conn: &Connection, snapshot: Snapshot, symptom: i64) -> Result<Seen, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT total, first_at, last_at FROM sightings WHERE symptom = ?1 AND stamp <= ?2 ORDER BY stamp DESC LIMIT 1",
    )?;
    let seen = rows.query_row(params![symptom, snapshot.stamp], |row| {
        let at = |column: &str| row.get(column).map(Timestamp::from_millis);
        Ok(Seen { total: row.get("total")?, first: at("first_at")?, last: at("last_at")? })
    });
    Ok(seen.optional()?.unwrap_or_default())
}

impl Hit {
    fn to_json(&self) -> Value {
        let Self { known, score, seen } = self;
        json!({
            "id": known.id,
            "test": known.test,
            "error": known.error,
            "category": known.category,
            "component": known.component,
            "score": score,
            "occurrences": seen.total,
            "first_seen": seen.first,
            "last_seen": seen.last,
        })
    }
}
