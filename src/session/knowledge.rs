//! Symptoms and root causes, stored across runs.

use super::{Session, SessionError};
use crate::diag::{Diagnostic, did_you_mean};
use crate::store::{
    Dormancy, Durability, KnownHistory, Rca, RcaFilter, RcaRow, RcaStatusChange, Store, SymptomFilter, SymptomRow, SymptomStatus,
};

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

impl Session {
    /// Lists root causes, most recently seen first; empty if there is no store yet.
    pub fn rcas(&self, filter: &RcaFilter) -> Result<Vec<RcaRow>, SessionError> {
        Ok(self.reader()?.map(|store| store.rcas(filter)).transpose()?.unwrap_or_default())
    }

    /// Lists symptoms, most recently seen first; empty if there is no store yet. The data file `recall` (`dormant: {days,
    /// launches}`) determines which are dormant, as of the session's clock.
    pub fn symptoms(&self, query: SymptomQuery) -> Result<Vec<SymptomRow>, SessionError> {
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let SymptomQuery { ids, run, status, limit } = query;
        let (now, dormancy) = (self.setup.clock.now(), self.dormancy()?);
        Ok(store.symptoms(&SymptomFilter { ids, run, status, limit: limit.unwrap_or(usize::MAX), now, dormancy })?)
    }

    /// The earlier runs that a run's queries may see.
    pub fn history(&self, run: &str) -> Result<KnownHistory, SessionError> {
        Ok(self.reader()?.map(|store| store.history(run)).transpose()?.unwrap_or_default())
    }

    /// Sets the status of a root cause on behalf of a person, and returns it as it was before.
    pub fn say_of_rca(&self, id: i64, status: &str, by: &str, message: &str) -> Result<Rca, SessionError> {
        self.rca(id)?;
        let store = self.store(Durability::Step)?;
        let word = RcaStatusChange { status: status.into(), by: by.into(), at: self.setup.clock.now(), message: message.into() };
        Ok(store.set_rca_status(id, &word)?)
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
        Err(unknown("symptom", id, &ids, mixed_up.then(|| format!("it is a root cause: asterisk show rca {id}"))))
    }

    /// Opens the store for reading, if it exists.
    pub(super) fn reader(&self) -> Result<Option<Store>, SessionError> {
        if self.setup.store.try_exists().is_ok_and(|there| !there) {
            return Ok(None);
        }
        Ok(Some(Store::read_only(&self.setup.store)?))
    }

    fn dormancy(&self) -> Result<Dormancy, SessionError> {
        let data = self.data()?;
        let setting = data.get("recall").and_then(|recall| recall.get("dormant")).cloned().unwrap_or_default();
        if setting.is_null() {
            return Ok(Dormancy::default());
        }
        serde_json::from_value(setting).map_err(|error| {
            let help = "it is a map of `days` and `launches`, both numbers, each of which may be left out";
            let diagnostic = Diagnostic::error("input/data", format!("`dormant` of the data file `recall`: {error}"));
            SessionError::BadRequest(Box::new(diagnostic.help(help)))
        })
    }
}

/// The error of an unknown id, with suggestions.
fn unknown(what: &str, id: i64, ids: &[i64], mixed_up: Option<String>) -> SessionError {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let near = did_you_mean(&id.to_string(), ids.iter().map(String::as_str));
    let list = format!("asterisk show {what}s lists what there is").replace("root cause", "rca");
    let help = mixed_up.or(near).unwrap_or(if ids.is_empty() { format!("the store knows no {what} yet") } else { list });
    SessionError::BadRequest(Box::new(
        Diagnostic::error("input/unknown-id", format!("the store knows no {what} {id}")).help(help),
    ))
}
