//! Answers the bounded queries of the registry ([`NEEDS`]) from the store as it was when the run began, plus what the run itself committed
//! before its last barrier.

mod accuracy;
mod alike;
mod cluster;
mod features;
mod history;
mod known;
mod of_root;
mod of_symptom;
mod recall;
mod recent;
mod reviews;
mod siblings;
mod similar;
mod test_history;

use super::error::StoreError;
use super::knowledge::{FactScope, Rca, RcaHistory};
use super::open::Store;
use super::overturned::{OverturnedLink, overturned_as_of};
use super::readers::Snapshot;
use super::runs::run_row;
use crate::sql::{Connection, OptionalExtension, params};
pub use accuracy::WalkerAccuracy;
use asterisk_base::model::Hash;
use asterisk_diag::did_you_mean;
use asterisk_walk::{Cluster, NEEDS, Name, Queries, QuerySubject};
use known::KnownSymptom;
use serde_json::{Map, Value};
pub use siblings::SiblingScope;
use siblings::SimilarErrors;
use similar::SimilarSymptom;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Capacity of each cache; a full cache is cleared.
const CACHE_CAPACITY: usize = 1024;
/// How often a query is asked whose connection is lost.
const ATTEMPTS: usize = 3;
/// Longer texts are truncated to this many characters in answers.
const TEXT_CHARS: usize = 2000;

/// Answers queries for one run. Results are cached, since what the run may see does not change between barriers.
#[derive(Debug)]
pub struct StoreQueries {
    /// `None` without a store: every query is answered as unknown.
    source: Option<(Store, StoreSnapshot)>,
    /// Answer to `workspace`.
    repositories: Value,
    /// Not invalidated by barriers.
    accuracy: Mutex<Option<Value>>,
    /// Not invalidated by barriers.
    reviews: Mutex<Option<Value>>,
    recent_rcas: Mutex<Option<Arc<[recent::CreatedRca]>>>,
    recent_symptoms: Mutex<Option<Arc<[KnownSymptom]>>>,
    hits: Mutex<HashMap<LikenessInputs, Arc<[SimilarSymptom]>>>,
    rcas_of: Mutex<HashMap<i64, Arc<[of_symptom::SymptomLink]>>>,
    occurrences: Mutex<HashMap<i64, Arc<similar::SymptomOccurrences>>>,
    rcas: Mutex<HashMap<i64, Arc<RcaHistory>>>,
    /// Revoked links by symptom. Not invalidated by barriers.
    overturned: Mutex<HashMap<i64, Arc<[OverturnedLink]>>>,
    /// Row ids of the cases of the run.
    places: Mutex<HashMap<Box<str>, i64>>,
    /// The launch of the run.
    own_launch: Mutex<Option<history::OwnLaunch>>,
    /// Not invalidated by barriers.
    histories: Mutex<OccurrenceHistory>,
    errors: Mutex<Option<Arc<SimilarErrors>>>,
    /// The cluster of each case that has one.
    clusters: HashMap<Name, Arc<Cluster>>,
    priors: Mutex<HashMap<Box<str>, Value>>,
    /// Not invalidated by barriers, like the outcomes of their tests.
    test_launches: Mutex<Option<Arc<test_history::PastTestLaunches>>>,
    test_outcomes: Mutex<test_history::CachedOutcomes>,
}

/// Occurrences of root causes (true) and symptoms (false) before the run.
type OccurrenceHistory = HashMap<(bool, i64), Arc<Map<String, Value>>>;

/// Cache key of similar symptoms: the inputs, and the position of the case if that matters.
type LikenessInputs = (Hash, i64);

/// The facts visible to a run: those up to a stamp, written by runs that began before it, and its own up to another stamp.
#[derive(Clone, Copy, Debug)]
struct StoreSnapshot {
    run: i64,
    /// Last event before the run began.
    start: i64,
    /// Last barrier of the run, or its start.
    upto: i64,
    /// Row ids of the run's cases: first, and one past the last.
    first: i64,
    end: i64,
}

impl StoreSnapshot {
    /// The facts visible to a case: of its own run only those of the cases before it, so that no two cases adopt each other's root cause.
    fn of(self, case: i64) -> FactScope {
        FactScope { start: self.start, upto: self.upto, first: self.first, before: case }
    }

    /// The facts visible to any case of the run.
    fn whole(self) -> FactScope {
        self.of(self.end)
    }
}

impl StoreQueries {
    /// Answers for a run of the store. `repositories` is what `workspace` returns: `[{name, path, purpose, branch}]`.
    pub fn new(store: &Store, run: &str, repositories: Value) -> Result<Self, StoreError> {
        let snapshot = store.read(|conn| {
            let row = run_row(conn, run)?;
            let start = conn.query_row("SELECT start_seq FROM runs WHERE id = ?1", [row], |row| row.get(0))?;
            let (first, end) = conn.query_row(
                "SELECT coalesce(min(id), 0), coalesce(max(id), 0) + 1 FROM run_cases WHERE run = ?1",
                [row],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(StoreSnapshot { run: row, start, upto: start, first, end })
        })?;
        Ok(Self::with(Some((store.clone(), snapshot)), repositories))
    }

    /// Answers for a run without a store, as if the store were empty.
    pub fn without_store(repositories: Value) -> Self {
        Self::with(None, repositories)
    }

    fn with(source: Option<(Store, StoreSnapshot)>, repositories: Value) -> Self {
        Self {
            source,
            repositories,
            accuracy: Mutex::default(),
            reviews: Mutex::default(),
            recent_rcas: Mutex::default(),
            recent_symptoms: Mutex::default(),
            hits: Mutex::default(),
            rcas_of: Mutex::default(),
            occurrences: Mutex::default(),
            rcas: Mutex::default(),
            overturned: Mutex::default(),
            places: Mutex::default(),
            own_launch: Mutex::default(),
            histories: Mutex::default(),
            errors: Mutex::default(),
            clusters: HashMap::new(),
            priors: Mutex::default(),
            test_launches: Mutex::default(),
            test_outcomes: Mutex::default(),
        }
    }

    /// Advances the visible facts to a barrier of the run, given by its event number. Clusters formed there are added to the known ones.
    pub fn advance(&mut self, barrier: i64, clusters: Vec<Cluster>) {
        self.clusters.reserve(clusters.iter().map(|cluster| cluster.cases.len()).sum());
        for cluster in clusters.into_iter().map(Arc::new) {
            self.clusters.extend(cluster.cases.iter().map(|case| (case.clone(), Arc::clone(&cluster))));
        }
        let Some((_, snapshot)) = &mut self.source else { return };
        snapshot.upto = barrier;
        self.recent_rcas = Mutex::default();
        self.recent_symptoms = Mutex::default();
        self.hits = Mutex::default();
        self.rcas_of = Mutex::default();
        self.occurrences = Mutex::default();
        self.rcas = Mutex::default();
        self.priors = Mutex::default();
    }

    /// Whether any fact of the run itself is visible.
    fn sees_itself(&self) -> bool {
        self.source.as_ref().is_some_and(|(_, snapshot)| snapshot.upto > snapshot.start)
    }

    /// Whether a visible case belongs to the run.
    fn is_own(&self, case: i64) -> bool {
        self.source.as_ref().is_some_and(|(_, snapshot)| (snapshot.first..snapshot.end).contains(&case))
    }

    /// Answers a query in one transaction, or none if all it reads is cached.
    fn with_snapshot<T>(&self, body: impl FnOnce(&ActiveQuery<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &self.source {
            Some((store, snapshot)) => {
                store.read_lazily(|source| body(&ActiveQuery { needs: self, store: Some((source, *snapshot)) }))
            }
            None => body(&ActiveQuery { needs: self, store: None }),
        }
    }
}

/// A query being answered.
struct ActiveQuery<'a> {
    needs: &'a StoreQueries,
    store: Option<(&'a dyn Snapshot, StoreSnapshot)>,
}

impl Deref for ActiveQuery<'_> {
    type Target = StoreQueries;

    fn deref(&self) -> &StoreQueries {
        self.needs
    }
}

impl ActiveQuery<'_> {
    /// The row id of a case among the cases of all runs.
    fn place(&self, case: &str) -> Result<i64, StoreError> {
        cached_under(&self.places, case.into(), || {
            self.read_store(|conn, snapshot| {
                let mut find = conn.prepare_cached("SELECT id FROM run_cases WHERE run = ?1 AND item = ?2")?;
                Ok(find.query_row(params![snapshot.run, case], |row| row.get(0)).optional()?.unwrap_or_default())
            })
        })
    }

    /// A root cause as visible before a case.
    fn rca(&self, id: i64, before: i64) -> Result<Rca, StoreError> {
        let history = cached_under(&self.rcas, id, || {
            let found = self.read_store(|conn, snapshot| RcaHistory::read(conn, id, snapshot.whole()))?;
            Ok(Arc::new(found))
        })?;
        let scope = self.store.as_ref().map_or(FactScope::until(0), |(_, snapshot)| snapshot.of(before));
        Ok(history.as_of(id, scope))
    }

    /// The links of a symptom that were revoked before the run.
    fn overturned(&self, symptom: i64) -> Result<Arc<[OverturnedLink]>, StoreError> {
        cached_under(&self.overturned, symptom, || {
            Ok(self.read_store(|conn, snapshot| overturned_as_of(conn, symptom, snapshot.start))?.into())
        })
    }

    /// Adds the earlier occurrences of its symptom or root cause to a record.
    fn with_history(&self, mut record: Value, rca: bool, id: i64) -> Result<Value, StoreError> {
        let history = cached_under(&self.histories, (rca, id), || {
            let found = self.read_store(|conn, snapshot| {
                let own = cached(&self.own_launch, || history::own_launch(conn, snapshot))?;
                let seen = if rca { history::of_rca(conn, snapshot, id) } else { history::of_symptom(conn, snapshot, id) }?;
                history::to_fields(conn, snapshot, &own, &seen)
            })?;
            Ok(Arc::new(found))
        })?;
        if let Value::Object(record) = &mut record {
            record.extend(history.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        Ok(record)
    }

    /// Reads the store; the default without one.
    fn read_store<T: Default>(
        &self,
        query: impl FnOnce(&Connection, StoreSnapshot) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.store.map_or_else(|| Ok(T::default()), |(source, snapshot)| query(source.conn()?, snapshot))
    }
}

impl StoreQueries {
    fn answer(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
        match name {
            "symptoms.similar" => self.with_snapshot(|active| similar::answer(active, about)),
            "rcas.of_symptom" => self.with_snapshot(|active| of_symptom::answer(active, about)),
            "accuracy" => self.with_snapshot(accuracy::answer),
            "reviews" => self.with_snapshot(reviews::answer),
            "rcas.recent" => self.with_snapshot(|active| recent::answer(active, about)),
            "rcas.of_root" => self.with_snapshot(|active| of_root::answer(active, about)),
            "roots.said" => self.with_snapshot(|active| of_root::said(active, about)),
            "memory.recall" => self.with_snapshot(|active| recall::answer(active, about)),
            "siblings" => Ok(siblings::answer(self, about)),
            "tests.history" => self.with_snapshot(|active| test_history::answer(active, about)),
            "cluster" => self.with_snapshot(|active| cluster::answer(active, about)),
            "workspace" => Ok(self.repositories.clone()),
            _ => {
                let help = did_you_mean(name, NEEDS.iter().map(|need| need.name)).unwrap_or_default();
                Err(StoreError::Refused(format!("no query is called `{name}`; {help}")))
            }
        }
    }
}

impl Queries for StoreQueries {
    /// A query whose connection is lost is repeated. If the store cannot be reached for too long, what the case does without the answer is not
    /// recorded: its next commit is refused.
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String> {
        let mut attempt = 1;
        loop {
            match self.answer(name, about) {
                Ok(answer) => return Ok(answer),
                Err(StoreError::Unreachable(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => {
                    if let (true, Some((store, snapshot))) = (error.is_outage(), &self.source) {
                        store.note_failed_read(snapshot.run, &about.case.id, &error);
                    }
                    return Err(error.to_string());
                }
            }
        }
    }
}

/// The value cached in `slot`, computed on a miss. Not locked meanwhile: two threads may compute the same value.
fn cached<T: Clone>(slot: &Mutex<Option<T>>, make: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    if let Some(found) = &*lock(slot) {
        return Ok(found.clone());
    }
    let made = make()?;
    *lock(slot) = Some(made.clone());
    Ok(made)
}

/// The value cached in `slot` under a key, computed on a miss.
fn cached_under<K: Eq + std::hash::Hash, T: Clone>(
    slot: &Mutex<HashMap<K, T>>,
    key: K,
    make: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if let Some(found) = lock(slot).get(&key) {
        return Ok(found.clone());
    }
    let made = make()?;
    let mut slot = lock(slot);
    if slot.len() >= CACHE_CAPACITY {
        slot.clear();
    }
    slot.insert(key, made.clone());
    Ok(made)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Truncates a long text.
fn short(text: String) -> String {
    cut(text, TEXT_CHARS)
}

/// Truncates a text of more than the given number of characters.
fn cut(mut text: String, chars: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
