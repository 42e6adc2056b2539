//! `symptoms.similar`: known symptoms similar to the case's failure.

use super::alike::of_words;
use super::features::Features;
use super::known::{KnownSymptom, SymptomScope, of_component, of_recall_key, of_test, recent, recent_here};
use super::{ActiveQuery, StoreSnapshot, cached, cached_under};
use crate::error::StoreError;
use crate::sql::{Connection, OptionalExtension, params};
use crate::terms::terms;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Hash};
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number returned.
const MAX_RESULTS: usize = 10;
/// Lower bound of the similarity; less is coincidence.
const MIN_LIKENESS: f64 = 0.1;

/// A symptom similar to a case's failure.
#[derive(Clone, Debug)]
pub(super) struct SimilarSymptom {
    pub(super) known: KnownSymptom,
    /// Similarity, 0 to 1.
    score: f64,
    times: SightingTimes,
    same_run: bool,
}

/// Number and times of a symptom's occurrences.
#[derive(Clone, Copy, Debug)]
struct SightingTimes {
    total: i64,
    /// In milliseconds, like all times in the store.
    first: i64,
    last: i64,
}

impl SightingTimes {
    const NEVER: Self = Self { total: 0, first: i64::MAX, last: i64::MIN };

    fn and(self, other: Self) -> Self {
        Self { total: self.total + other.total, first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// Occurrences of a symptom as visible to a run.
#[derive(Debug)]
pub(super) struct SymptomOccurrences {
    /// Before the run began.
    before: SightingTimes,
    /// By cases of the run, in their order: for each, the cumulative occurrences including its own.
    here: Vec<(i64, SightingTimes)>,
}

impl SymptomOccurrences {
    /// As visible to a case: before the run, and by the cases before it.
    fn by(&self, case: i64) -> SightingTimes {
        let earlier = self.here.partition_point(|(other, _)| *other < case);
        earlier.checked_sub(1).and_then(|last| self.here.get(last)).map_or(self.before, |(_, so_far)| *so_far)
    }
}

/// Answers the query.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    let ours = Features::new(&about.case.name, &about.case.error_message);
    let hits = hits(needs, about.case)?;
    let records = hits.iter().map(|hit| {
        let mut record = hit.to_json();
        record["why"] = ours.why(&about.case.error_message, &hit.known.features, &hit.known.error);
        needs.with_history(record, false, hit.known.id)
    });
    records.collect()
}

/// Symptoms with the case's recall key first (score 1), then others by similarity. Candidates are those of the same test, of the same
/// component (if the case has an attribute `component`), those that share discriminating terms, and the latest ones. Of equal
/// ones, those of the same test come first, then those that occurred more often, then by id.
pub(super) fn hits(needs: &ActiveQuery<'_>, case: &Case) -> Result<Arc<[SimilarSymptom]>, StoreError> {
    let component = case.attributes.get("component").unwrap_or_default();
    let inputs = json!([case.recall_key, case.name, case.error_message, component]);
    // As long as no fact of the run itself is visible, all its cases see the same.
    let place = if needs.sees_itself() { needs.place(&case.id)? } else { 0 };
    cached_under(&needs.hits, (Hash::of_json(&inputs), place), || {
        let recent = cached(&needs.recent_symptoms, || Ok(needs.read_store(latest)?.into()))?;
        let found = needs.read_store(|conn, snapshot| {
            let (run, scope) = (snapshot.run, snapshot.of(place));
            let mut found: BTreeMap<i64, (f64, KnownSymptom)> = BTreeMap::new();
            if !case.recall_key.is_empty() {
                let same = of_recall_key(conn, run, scope, &case.recall_key)?;
                found.extend(same.into_iter().map(|known| (known.id, (1.0, known))));
            }
            let mut others = Vec::new();
            for found in [SymptomScope::Earlier, SymptomScope::Here] {
                others.extend(of_test(conn, run, scope, found, &case.name)?);
                others.extend(of_component(conn, run, scope, found, component)?);
            }
            let visible = |known: &&KnownSymptom| known.case < snapshot.first || known.case < place;
            let at_hand = found.values().map(|(_, known)| known).chain(&others).chain(recent.iter().filter(visible));
            let at_hand: BTreeSet<i64> = at_hand.map(|known| known.id).collect();
            let terms = terms(&case.name, &case.error_message);
            for found in [SymptomScope::Earlier, SymptomScope::Here] {
                others.extend(of_words(conn, run, scope, found, &terms, &at_hand)?);
            }
            let ours = Features::new(&case.name, &case.error_message);
            for known in others.iter().chain(recent.iter().filter(visible)) {
                let score = ours.likeness(&known.features);
                if score >= MIN_LIKENESS {
                    found.entry(known.id).or_insert_with(|| (score, known.clone()));
                }
            }
            Ok(found.into_values().collect())
        })?;
        best(needs, place, &case.name, found).map(Into::into)
    })
}

/// Candidates compared with every case.
fn latest(conn: &Connection, snapshot: StoreSnapshot) -> Result<Vec<KnownSymptom>, StoreError> {
    let mut latest = recent(conn, snapshot.run, snapshot.whole())?;
    if snapshot.upto > snapshot.start {
        latest.extend(recent_here(conn, snapshot.run, snapshot.whole())?);
    }
    Ok(latest)
}

fn best(
    needs: &ActiveQuery<'_>,
    place: i64,
    test: &str,
    mut found: Vec<(f64, KnownSymptom)>,
) -> Result<Vec<SimilarSymptom>, StoreError> {
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    // All that tie with the last one are kept until their occurrences are known.
    let worst = found.get(MAX_RESULTS - 1).map_or(0.0, |(score, _)| *score);
    found.retain(|(score, _)| *score >= worst);
    let mut hits = Vec::with_capacity(found.len());
    for (score, known) in found {
        let symptom = known.id;
        let occurrences = cached_under(&needs.occurrences, symptom, || {
            let occurrences = needs.read_store(|conn, snapshot| Ok(Some(Arc::new(occurrences(conn, snapshot, symptom)?))))?;
            Ok(occurrences.unwrap_or_else(|| Arc::new(SymptomOccurrences { before: SightingTimes::NEVER, here: Vec::new() })))
        })?;
        let same_run = needs.is_own(known.case);
        hits.push(SimilarSymptom { times: occurrences.by(place), score, known, same_run });
    }
    hits.sort_by(|a, b| {
        let rank = |hit: &SimilarSymptom| (hit.known.test != test, Reverse(hit.times.total), hit.known.id);
        b.score.total_cmp(&a.score).then_with(|| rank(a).cmp(&rank(b)))
    });
    hits.truncate(MAX_RESULTS);
    Ok(hits)
}

fn occurrences(conn: &Connection, snapshot: StoreSnapshot, symptom: i64) -> Result<SymptomOccurrences, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT total, first_at, last_at FROM sightings WHERE symptom = ?1 AND stamp <= ?2 ORDER BY stamp DESC LIMIT 1",
    )?;
    let before = rows.query_row(params![symptom, snapshot.start], |row| {
        Ok(SightingTimes { total: row.get("total")?, first: row.get("first_at")?, last: row.get("last_at")? })
    });
    let before = before.optional()?.unwrap_or(SightingTimes::NEVER);
    let mut here = Vec::new();
    if snapshot.upto > snapshot.start {
        let mut rows = conn.prepare_cached(
            "SELECT rc, at FROM sightings WHERE symptom = ?1 AND stamp > ?2 AND stamp <= ?3 AND rc >= ?4 AND rc < ?5 ORDER BY rc",
        )?;
        let mut so_far = before;
        let inputs = params![symptom, snapshot.start, snapshot.upto, snapshot.first, snapshot.end];
        let sightings = rows.query_map(inputs, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        for sighting in sightings {
            let (case, at) = sighting?;
            so_far = so_far.and(SightingTimes { total: 1, first: at, last: at });
            here.push((case, so_far));
        }
    }
    Ok(SymptomOccurrences { before, here })
}

impl SimilarSymptom {
    fn to_json(&self) -> Value {
        let Self { known, score, times, same_run } = self;
        let at = |millis: i64| if times.total == 0 { Timestamp::default() } else { Timestamp::from_millis(millis) };
        json!({
            "id": known.id,
            "test": known.test,
            "error": known.error,
            "category": known.category,
            "component": known.component,
            "score": score,
            "occurrences": times.total,
            "first_seen": at(times.first),
            "last_seen": at(times.last),
            "same_run": same_run,
        })
    }
}
