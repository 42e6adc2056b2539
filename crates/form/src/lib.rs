//! Forms: one table of keys per kind of YAML file. Validation, "did you mean" suggestions, JSON Schemas and references are derived from
//! the tables. The YAML reader is included.
//!
//! Innermost first: `spanned`, `yaml` (the tree), `table` (forms), `schema` (JSON Schema), `reference` (Markdown), `read` (checks a
//! tree against a form), `fields` (extracts values from a checked tree).
//!
//! # Example
//!
#![doc = "```"]
#![doc = include_str!("../examples/settings.rs")]
#![doc = "```"]

mod fields;
mod read;
mod reference;
mod schema;
mod spanned;
mod table;
pub mod yaml;

pub use fields::FormFields;
pub use read::{FormReader, ListedPattern, ReadPattern, fill};
pub use reference::reference;
pub use schema::{extending, extensible, json_schema, of_form};
pub use spanned::Spanned;
pub use table::{DefaultValue, Form, FormKey, MayBeEmpty, Requirement, ValueForm};
