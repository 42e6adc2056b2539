//! YAML as a tree in which every key and value knows where it stands.
//!
//! One document a file, a map or list or scalar at its top. The tree is made from `serde-saphyr`'s parser events rather
//! than by deserialising into types: events carry exact byte ranges and the style of each scalar, so that every problem
//! of a file can be reported at once and an expression inside a scalar can be mapped back character by character.
//!
//! Scalars are typed by the YAML 1.2 core schema, strictly: only `true` and `false` are bools, a number with leading
//! zeros or underscores is a text. Keys are texts whatever they look like. `<<` merges maps. Other tags than the core
//! schema's, complex keys, duplicate keys and numbers that JSON cannot hold are errors.

mod build;
mod fault;
mod number;
mod read;
mod scalar;
mod tree;

pub use build::parse;
pub use read::{YamlFields, YamlReader, expression};
pub use tree::{QuoteStyle, Yaml, YamlEntry, YamlKind, YamlText};
