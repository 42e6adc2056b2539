//! YAML as a tree in which every key and value has a span.
//!
//! One document per file, with a map, list or scalar at its root. The tree is built from `serde-saphyr`'s parser events rather
//! than by deserialising into types: events carry exact byte ranges and the style of each scalar, so that all errors of a file
//! can be reported at once and an expression inside a scalar can be mapped back character by character.
//!
//! Scalars are typed strictly by the YAML 1.2 core schema: only `true` and `false` are bools; a number with leading zeros or
//! underscores is a string. Keys are always strings. `<<` merges maps. Tags other than those of the core schema, complex keys,
//! duplicate keys and numbers that JSON cannot represent are errors.

mod build;
mod diagnose;
mod extend;
mod number;
mod read;
mod scalar;
mod tree;

pub use build::parse;
pub use extend::unresolved;
pub use read::{YamlFields, YamlReader, expression};
pub use tree::{QuoteStyle, Yaml, YamlEntry, YamlKind, YamlText};
