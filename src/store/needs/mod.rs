//! The bounded queries of the registry ([`NEEDS`]), answered from the store as it was when the run began, with what the run
//! itself has committed before its last barrier.

mod accuracy;
mod alike;
mod cluster;
mod features;
mod history;
mod known;
mod of_symptom;
mod recent;
mod siblings;
mod similar;

use super::error::StoreError;
use super::knowledge::FactScope;
use super::open::Store;
use super::runs::run_row;
use crate::diag::did_you_mean;
use crate::model::Hash;
use crate::walk::{Cluster, NEEDS, Name, Queries, QuerySubject};
use known::KnownSymptom;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};
pub use siblings::SiblingScope;
use siblings::SimilarErrors;
use similar::SimilarSymptom;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many answers are kept of each kind; then all of them are forgotten and the next ones kept.
const KEPT: usize = 256;
/// Longer texts are cut to this many characters in answers.
const TEXT_CHARS: usize = 2000;

/// Answers queries for one run. What it has found it keeps, since nothing that it may see changes.
#[derive(Debug)]
pub struct StoreQueries {
    /// None where there is no store: nothing is known then.
    source: Option<(Store, StoreSnapshot)>,
    /// The answer to `workspace`.
    repositories: Value,
    /// Does not change with barriers.
    accuracy: Mutex<Option<Value>>,
    recent_rcas: Mutex<Option<Arc<[recent::CreatedRca]>>>,
    recent_symptoms: Mutex<Option<Arc<[KnownSymptom]>>>,
    hits: Mutex<HashMap<LikenessInputs, Arc<[SimilarSymptom]>>>,
    rcas_of: Mutex<HashMap<i64, Arc<[of_symptom::SymptomLink]>>>,
    seen: Mutex<HashMap<i64, Arc<similar::SymptomOccurrences>>>,
    /// Does not change with barriers.
    histories: Mutex<OccurrenceHistory>,
    errors: Mutex<Option<Arc<SimilarErrors>>>,
    /// The cluster of each case that is in one.
    clusters: HashMap<Name, Arc<Cluster>>,
    priors: Mutex<HashMap<Box<str>, Value>>,
}

/// Where root causes (true) and symptoms were seen before the run.
type OccurrenceHistory = HashMap<(bool, i64), Arc<Map<String, Value>>>;

/// What the likeness of symptoms is asked for: the inputs, and the place of the case if that matters.
type LikenessInputs = (Hash, i64);

/// What a run may see: facts up to a stamp, all of them written by runs that began before it, and its own up to another.
#[derive(Clone, Copy, Debug)]
struct StoreSnapshot {
    run: i64,
    /// The last event when the run began.
    start: i64,
    /// The last barrier of the run, or its start.
    upto: i64,
    /// The run's cases: from this one on, before that one.
    first: i64,
    end: i64,
}

impl StoreSnapshot {
    /// What a case sees: of its own run only what the cases before it wrote. So no two cases can each take the other's root
    /// cause for theirs.
    fn of(self, case: i64) -> FactScope {
        FactScope { start: self.start, upto: self.upto, first: self.first, before: case }
    }

    /// What any case of the run may see.
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
                "SELECT ifnull(min(id), 0), ifnull(max(id), 0) + 1 FROM run_cases WHERE run = ?1",
                [row],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(StoreSnapshot { run: row, start, upto: start, first, end })
        })?;
        Ok(Self::with(Some((store.clone(), snapshot)), repositories))
    }

    /// Answers for a run without a store: as if the store were empty.
    pub fn without_store(repositories: Value) -> Self {
        Self::with(None, repositories)
    }

    fn with(source: Option<(Store, StoreSnapshot)>, repositories: Value) -> Self {
        Self {
            source,
            repositories,
            accuracy: Mutex::default(),
            recent_rcas: Mutex::default(),
            recent_symptoms: Mutex::default(),
            hits: Mutex::default(),
            rcas_of: Mutex::default(),
            seen: Mutex::default(),
            histories: Mutex::default(),
            errors: Mutex::default(),
            clusters: HashMap::new(),
            priors: Mutex::default(),
        }
    }

    /// From now on, what the run committed up to this event is seen too: a barrier of the run. Clusters formed there stand
    /// beside those that are known.
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
        self.seen = Mutex::default();
        self.priors = Mutex::default();
    }

    /// Whether anything that the run itself wrote is seen.
    fn sees_itself(&self) -> bool {
        self.source.as_ref().is_some_and(|(_, snapshot)| snapshot.upto > snapshot.start)
    }

    /// Whether a case in sight is one of the run.
    fn is_own(&self, case: i64) -> bool {
        self.source.as_ref().is_some_and(|(_, snapshot)| (snapshot.first..snapshot.end).contains(&case))
    }

    /// Asks in one transaction: one state of the store, and its file is locked once, not for each of some fifty looks at it.
    fn asking<T>(&self, body: impl FnOnce(&ActiveQuery<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &self.source {
            Some((store, snapshot)) => store.read(|conn| body(&ActiveQuery { needs: self, store: Some((conn, *snapshot)) })),
            None => body(&ActiveQuery { needs: self, store: None }),
        }
    }
}

/// A query that is being answered.
struct ActiveQuery<'a> {
    needs: &'a StoreQueries,
    store: Option<(&'a Connection, StoreSnapshot)>,
}

impl Deref for ActiveQuery<'_> {
    type Target = StoreQueries;

    fn deref(&self) -> &StoreQueries {
        self.needs
    }
}

impl ActiveQuery<'_> {
    /// The place of a case among the cases of all runs.
    fn place(&self, case: &str) -> Result<i64, StoreError> {
        self.ask(|conn, snapshot| {
            let mut find = conn.prepare_cached("SELECT id FROM run_cases WHERE run = ?1 AND item = ?2")?;
            Ok(find.query_row(params![snapshot.run, case], |row| row.get(0)).optional()?.unwrap_or_default())
        })
    }

    /// Adds to a record where its symptom, or root cause, was seen before the run.
    fn with_history(&self, mut record: Value, rca: bool, id: i64) -> Result<Value, StoreError> {
        let history = kept_under(&self.histories, (rca, id), || {
            let found =
                self.ask(
                    |conn, snapshot| {
                        if rca { history::of_rca(conn, snapshot, id) } else { history::of_symptom(conn, snapshot, id) }
                    },
                )?;
            Ok(Arc::new(found))
        })?;
        if let Value::Object(record) = &mut record {
            record.extend(history.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        Ok(record)
    }

    /// Asks the store; nothing is known where there is none.
    fn ask<T: Default>(&self, query: impl FnOnce(&Connection, StoreSnapshot) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.store.map_or_else(|| Ok(T::default()), |(conn, snapshot)| query(conn, snapshot))
    }
}

impl Queries for StoreQueries {
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String> {
        let answer = match name {
            "symptoms.similar" => self.asking(|asking| similar::answer(asking, about)),
            "rcas.of_symptom" => self.asking(|asking| of_symptom::answer(asking, about)),
            "accuracy" => self.asking(accuracy::answer),
            "rcas.recent" => self.asking(|asking| recent::answer(asking, about)),
            "siblings" => Ok(siblings::answer(self, about)),
            "cluster" => self.asking(|asking| cluster::answer(asking, about)),
            "workspace" => Ok(self.repositories.clone()),
            _ => {
                let help = did_you_mean(name, NEEDS.iter().map(|need| need.name)).unwrap_or_default();
                return Err(format!("no query is called `{name}`; {help}"));
            }
        };
        answer.map_err(|error| error.to_string())
    }
}

/// What is kept in `slot`, or made now. Not locked meanwhile: two threads may make the same thing twice.
fn kept<T: Clone>(slot: &Mutex<Option<T>>, make: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    if let Some(found) = &*lock(slot) {
        return Ok(found.clone());
    }
    let made = make()?;
    *lock(slot) = Some(made.clone());
    Ok(made)
}

/// What is kept in `slot` under a key, or made now.
fn kept_under<K: Eq + std::hash::Hash, T: Clone>(
    slot: &Mutex<HashMap<K, T>>,
    key: K,
    make: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if let Some(found) = lock(slot).get(&key) {
        return Ok(found.clone());
    }
    let made = make()?;
    let mut slot = lock(slot);
    if slot.len() >= KEPT {
        slot.clear();
    }
    slot.insert(key, made.clone());
    Ok(made)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text, cut if it is long.
fn short(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(TEXT_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
