//! Domains: the defects, categories, signatures and components of a field or product. Files `domains/NAME.yaml` among the data.
//!
//! One domain is linked into a project, merged with those it extends; scripts see it as `params.data.domain`. Maps are merged
//! entry by entry and key by key, lists of patterns are appended, signatures and severities are matched by name.

mod chain;
mod check;
mod entries;
mod keys;
mod merge;
mod patterns;

pub use chain::{DEFAULT_DOMAIN, Domain, ListedDomain, link, list, names};
pub(super) use chain::{is_domain_file, link_checked};

use serde_json::Value;

/// The JSON Schema (2020-12) of a domain, from the reader's table of keys.
pub fn json_schema() -> Value {
    asterisk_form::json_schema("Asterisk domain", &keys::DOMAIN)
}

/// The JSON Schema (2020-12) of a file of signatures: a part of a domain, so that no key is required by itself.
pub fn signatures_json_schema() -> Value {
    let mut schema = asterisk_form::json_schema("Asterisk signatures", &keys::DOMAIN);
    if let Some(required) = schema.get_mut("else").and_then(Value::as_object_mut) {
        required.remove("required");
    }
    schema
}

#[cfg(test)]
mod tests;
