//! Answers of agents that passed, by what they depend on.

use super::error::StoreError;
use super::open::Store;
use crate::sql::OptionalExtension as _;
use asterisk_base::model::Hash;
use serde_json::Value;

impl Store {
    /// The answer kept under an address.
    pub fn cached_answer(&self, key: &Hash) -> Result<Option<Value>, StoreError> {
        self.read(|conn| {
            let mut select = conn.prepare_cached("SELECT answer FROM answers WHERE key = ?1")?;
            let text: Option<String> = select.query_row([key.bytes()], |row| row.get(0)).optional()?;
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        })
    }

    /// The number of answers kept.
    pub fn cached_answers(&self) -> Result<usize, StoreError> {
        self.read(|conn| {
            let count: i64 = conn.query_row("SELECT count(*) FROM answers", [], |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or_default())
        })
    }

    /// Removes all answers kept.
    pub fn clear_answers(&self) -> Result<usize, StoreError> {
        self.writer()?.exclusively(|conn| Ok(conn.execute("DELETE FROM answers", [])?))
    }
}
