//! A journal that stores nothing and queries that find nothing, for single decisions and benchmarks.

use super::journal::{Commit, Journal, JournalError};
use super::queries::{CODE, Queries, QuerySubject, unknown_code, unknown_history};
use serde_json::{Value, json};

/// A journal that stores nothing.
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

/// Queries that find nothing: each returns an empty list, or an empty map where it returns a single object.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullQueries;

impl Queries for NullQueries {
    fn query(&self, name: &str, _about: &QuerySubject<'_>) -> Result<Value, String> {
        Ok(match name {
            "cluster" | "roots.said" => json!({}),
            "tests.history" => unknown_history(),
            CODE => unknown_code(),
            _ => json!([]),
        })
    }
}
