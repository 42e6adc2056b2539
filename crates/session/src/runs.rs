//! Listing runs.

use super::{Session, SessionError};
use asterisk_store::RunRow;

impl Session {
    /// All runs of the store, newest first; empty without a store.
    pub fn runs(&self) -> Result<Vec<RunRow>, SessionError> {
        Ok(self.reader()?.map(|store| store.runs()).transpose()?.unwrap_or_default())
    }
}
