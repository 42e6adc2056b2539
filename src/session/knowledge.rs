//! What the store knows across runs: symptoms and root causes.

use super::{Session, SessionError};
use crate::diag::Diagnostic;
use crate::store::{Dormancy, RcaFilter, RcaRow, Store, SymptomFilter, SymptomRow, SymptomStatus};

/// Which symptoms to show.
#[derive(Clone, Debug, Default)]
pub struct SymptomsAsked {
    /// Only these.
    pub ids: Option<Vec<i64>>,
    /// Only those that a case of this run is linked to.
    pub run: Option<String>,
    /// Only those of this status.
    pub status: Option<SymptomStatus>,
    /// At most so many; all if none.
    pub limit: Option<usize>,
}

impl Session {
    /// Root causes, those seen last first; none if there is no store yet.
    pub fn rcas(&self, filter: &RcaFilter) -> Result<Vec<RcaRow>, SessionError> {
        Ok(self.reader()?.map(|store| store.rcas(filter)).transpose()?.unwrap_or_default())
    }

    /// Symptoms, those seen last first; none if there is no store yet. What is dormant is decided by the data file `recall`
    /// (`dormant: {days, launches}`), as of the session's clock.
    pub fn symptoms(&self, asked: SymptomsAsked) -> Result<Vec<SymptomRow>, SessionError> {
        let Some(store) = self.reader()? else { return Ok(Vec::new()) };
        let SymptomsAsked { ids, run, status, limit } = asked;
        let (now, dormancy) = (self.setup.clock.now(), self.dormancy()?);
        Ok(store.symptoms(&SymptomFilter { ids, run, status, limit: limit.unwrap_or(usize::MAX), now, dormancy })?)
    }

    /// The store to be read, if there is one.
    pub(super) fn reader(&self) -> Result<Option<Store>, SessionError> {
        if self.setup.store.try_exists().is_ok_and(|there| !there) {
            return Ok(None);
        }
        Ok(Some(Store::read_only(&self.setup.store)?))
    }

    fn dormancy(&self) -> Result<Dormancy, SessionError> {
        let data = self.data()?;
        let said = data.get("recall").and_then(|recall| recall.get("dormant")).cloned().unwrap_or_default();
        if said.is_null() {
            return Ok(Dormancy::default());
        }
        serde_json::from_value(said).map_err(|error| {
            let help = "it is a map of `days` and `launches`, both numbers, each of which may be left out";
            let diagnostic = Diagnostic::error("input/data", format!("`dormant` of the data file `recall`: {error}"));
            SessionError::Asked(Box::new(diagnostic.help(help)))
        })
    }
}
