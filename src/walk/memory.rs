//! A journal that keeps nothing and reads that find nothing: for single decisions and benches.

use super::journal::{Commit, Journal, JournalError};
use super::queries::{Queries, QuerySubject};
use serde_json::{Value, json};

/// A journal that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullJournal;

impl Journal for NullJournal {
    fn commit(&self, _commit: Commit) -> Result<(), JournalError> {
        Ok(())
    }

    fn keeps(&self) -> bool {
        false
    }
}

/// Reads that find nothing: every query answers with an empty list, or with an empty map where one thing is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullQueries;

impl Queries for NullQueries {
    fn query(&self, name: &str, _about: &QuerySubject<'_>) -> Result<Value, String> {
        Ok(if name == "cluster" { json!({}) } else { json!([]) })
    }
}
