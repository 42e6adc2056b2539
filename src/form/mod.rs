//! Forms: one table of keys for each kind of YAML file, from which come its checked reading, the "did you mean" lists and its
//! JSON Schema. Below them the YAML reader itself.
//!
//! Innermost first: `spanned`, `yaml` (the tree), `table` (forms), `schema` (JSON Schema), `read` (checking a tree), `fields`
//! (taking values from a checked tree).

mod fields;
mod read;
mod schema;
mod spanned;
mod table;
pub mod yaml;

pub use fields::FormFields;
pub use read::{FormReader, ListedPattern, ReadPattern, fill};
pub use schema::{json_schema, of_form};
pub use spanned::Spanned;
pub use table::{Form, FormKey, MayBeEmpty, Requirement, UsualValue, ValueForm};
