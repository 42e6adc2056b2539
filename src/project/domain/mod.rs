//! Domain vocabularies: what the words of a project are and mean. Files `domains/NAME.yaml` among the data.
//!
//! One vocabulary is linked into a project, merged with those it extends; scripts see it as `params.data.domain`. Maps are merged
//! entry by entry and key by key, lists of patterns are added to, signatures and severities are told apart by their names.

mod chain;
mod check;
mod entries;
mod keys;
mod merge;
mod patterns;

pub(super) use chain::is_one;
pub use chain::{DEFAULT_DOMAIN, Domain, ListedDomain, link, list, names};

use serde_json::Value;

/// The JSON Schema (2020-12) of a vocabulary, from the table that the reader goes by.
pub fn json_schema() -> Value {
    crate::form::json_schema("Asterisk domain vocabulary", &keys::DOMAIN)
}

#[cfg(test)]
mod tests;
