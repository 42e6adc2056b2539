//! What runs there are.

use super::{Session, SessionError};
use crate::store::{RunRow, Store};

impl Session {
    /// All runs of the store, newest first; none if there is no store yet.
    pub fn runs(&self) -> Result<Vec<RunRow>, SessionError> {
        if self.setup.store.try_exists().is_ok_and(|there| !there) {
            return Ok(Vec::new());
        }
        Ok(Store::read_only(&self.setup.store)?.runs()?)
    }
}
