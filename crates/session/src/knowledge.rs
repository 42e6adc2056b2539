//! Symptoms and root causes, stored across runs.

use super::{Session, SessionError};
use asterisk_base::clock::Timestamp;
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_store::{
    Durability, KnownHistory, Rca, RcaFilter, RcaRow, RcaStatusChange, RootWord, RootWordDone, Store, StoreError, SymptomFilter,
    SymptomRow, SymptomStatus, TestStability, WalkerAccuracy,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A filter for symptoms.
#[derive(Clone, Debug, Default)]
pub struct SymptomQuery {
    /// Only these.
    pub ids: Option<Vec<i64>>,
    /// Only those linked to a case of this run.
    pub run: Option<String>,
    /// Only those of this status.
    pub status: Option<SymptomStatus>,
    /// The most results; all if `None`.
    pub limit: Option<usize>,
}

/// Knowledge across runs: symptoms, root causes, tests, walkers, memories. Empty without a store.
pub struct Knowledge<'a> {
    pub(super) session: &'a Session,
    store: Option<Store>,
}

impl Session {
    /// Opens what the store knows across runs.
    pub fn knowledge(&self) -> Result<Knowledge<'_>, SessionError> {
        Ok(Knowledge { session: self, store: self.reader()? })
    }

    /// Opens the store for reading, if it exists.
    pub(super) fn reader(&self) -> Result<Option<Store>, SessionError> {
        if self.no_store_yet().is_some() {
            return Ok(None);
        }
        Ok(Some(Store::read_only(&self.setup.store)?))
    }
}

impl Knowledge<'_> {
    pub(super) fn now(&self) -> Timestamp {
        self.session.setup.clock.now()
    }

    pub(super) fn read<T: Default>(&self, read: impl FnOnce(&Store) -> Result<T, StoreError>) -> Result<T, SessionError> {
        Ok(self.store.as_ref().map(read).transpose()?.unwrap_or_default())
    }

    /// Lists root causes, most recently seen first.
    pub fn rcas(&self, filter: &RcaFilter) -> Result<Vec<RcaRow>, SessionError> {
        self.read(|store| store.rcas(filter))
    }

    /// Lists symptoms, most recently seen first. The data file `recall` (`dormant: {days, launches}`) determines which are dormant, as of
    /// the session's clock.
    pub fn symptoms(&self, query: SymptomQuery) -> Result<Vec<SymptomRow>, SessionError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let SymptomQuery { ids, run, status, limit } = query;
        let (now, dormancy) = (self.now(), self.recall_setting("dormant")?);
        Ok(store.symptoms(&SymptomFilter { ids, run, status, limit: limit.unwrap_or(usize::MAX), now, dormancy })?)
    }

    /// The earlier runs that a run's queries may see.
    pub fn history(&self, run: &str) -> Result<KnownHistory, SessionError> {
        self.read(|store| store.history(run))
    }

    /// The flaky tests, by the latest launches that the store has outcomes of. The data file `recall` (`flaky: {retried, commits, flips,
    /// launches}`) determines which are.
    pub fn flaky_tests(&self) -> Result<Vec<TestStability>, SessionError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let bounds: FlakyBounds = self.recall_setting("flaky")?;
        Ok(store.test_stability()?.into_iter().filter(|test| bounds.is_flaky(test)).collect())
    }

    /// How often walkers' answers at a node were confirmed in review.
    pub fn walker_accuracy(&self) -> Result<Vec<WalkerAccuracy>, SessionError> {
        self.read(Store::walker_accuracy)
    }

    /// Sets the status of a root cause on behalf of a person, and returns it as it was before.
    pub fn say_of_rca(&self, id: i64, status: &str, by: &str, message: &str) -> Result<Rca, SessionError> {
        self.rca(id)?;
        let store = self.session.store(Durability::Step)?;
        let word = RcaStatusChange { status: status.into(), by: by.into(), at: self.now(), message: message.into() };
        Ok(store.set_rca_status(id, &word)?)
    }

    /// Records that two root causes are one: `other` becomes a duplicate of `kept`.
    pub fn merge_rcas(&self, kept: i64, other: i64, by: &str, message: &str) -> Result<RootWordDone, SessionError> {
        self.rca(kept)?;
        self.rca(other)?;
        if kept == other {
            let error = Diagnostic::error("input/same-rca", format!("{kept} is a single root cause already"));
            return Err(SessionError::BadRequest(Box::new(error.help("name two root causes: asterisk rca merge KEPT OTHER"))));
        }
        let word = RootWord { by, at: self.now(), message };
        Ok(self.session.store(Durability::Step)?.merge_rcas(kept, other, word)?)
    }

    /// Records that cases are not of a root cause.
    pub fn split_rca(&self, id: i64, cases: &[String], by: &str, message: &str) -> Result<RootWordDone, SessionError> {
        self.rca(id)?;
        let word = RootWord { by, at: self.now(), message };
        Ok(self.session.store(Durability::Step)?.split_rca(id, cases, word)?)
    }

    /// The root cause of that id; the error suggests a similar one.
    pub fn rca(&self, id: i64) -> Result<RcaRow, SessionError> {
        let one = RcaFilter { ids: Some(vec![id]), cases: 1000, ..RcaFilter::default() };
        if let Some(row) = self.rcas(&one)?.pop() {
            return Ok(row);
        }
        let ids: Vec<i64> = self.rcas(&RcaFilter { cases: 0, ..RcaFilter::default() })?.iter().map(|row| row.rca.id).collect();
        let mixed_up = !self.symptoms(SymptomQuery { ids: Some(vec![id]), ..SymptomQuery::default() })?.is_empty();
        Err(unknown("root cause", id, &ids, mixed_up.then(|| format!("it is a symptom: asterisk show symptom {id}"))))
    }

    /// The symptom of that id; the error suggests a similar one.
    pub fn symptom(&self, id: i64) -> Result<SymptomRow, SessionError> {
        if let Some(row) = self.symptoms(SymptomQuery { ids: Some(vec![id]), ..SymptomQuery::default() })?.pop() {
            return Ok(row);
        }
        let ids: Vec<i64> = self.symptoms(SymptomQuery::default())?.iter().map(|row| row.id).collect();
        let mixed_up = !self.rcas(&RcaFilter { ids: Some(vec![id]), ..RcaFilter::default() })?.is_empty();
        Err(unknown("symptom", id, &ids, mixed_up.then(|| format!("it is a root cause: asterisk rca show {id}"))))
    }

    /// A setting of the data file `recall`.
    fn recall_setting<T: Default + DeserializeOwned>(&self, name: &str) -> Result<T, SessionError> {
        let data = self.session.data()?;
        let setting = data.get("recall").and_then(|recall| recall.get(name)).cloned().unwrap_or_default();
        if setting.is_null() {
            return Ok(T::default());
        }
        serde_json::from_value(setting).map_err(|error| {
            let help = "it is a map of optional numbers";
            let diagnostic = Diagnostic::error("input/data", format!("`{name}` of the data file `recall`: {error}"));
            SessionError::BadRequest(Box::new(diagnostic.help(help)))
        })
    }
}

/// From when on a test is flaky; a bound that is left out never is reached.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FlakyBounds {
    /// Launches in which it passed when retried.
    retried: Option<usize>,
    /// Commits on which it passed and failed.
    commits: Option<usize>,
    /// Changes between passed and failed.
    flips: Option<usize>,
    /// The least launches for its changes to count.
    launches: usize,
}

impl FlakyBounds {
    fn is_flaky(self, test: &TestStability) -> bool {
        let reached = |bound: Option<usize>, count: usize| bound.is_some_and(|bound| count >= bound.max(1));
        reached(self.retried, test.retried)
            || reached(self.commits, test.contradicted_commits)
            || (test.launches >= self.launches && reached(self.flips, test.flips))
    }
}

/// The error of an unknown id, with suggestions.
fn unknown(what: &str, id: i64, ids: &[i64], mixed_up: Option<String>) -> SessionError {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let near = did_you_mean(&id.to_string(), ids.iter().map(String::as_str));
    let list = format!("asterisk show {what}s lists them").replace("root cause", "rca");
    let help = mixed_up.or(near).unwrap_or(if ids.is_empty() { format!("no {what} in the store yet") } else { list });
    SessionError::BadRequest(Box::new(Diagnostic::error("input/unknown-id", format!("unknown {what} {id}")).help(help)))
}
