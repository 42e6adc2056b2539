//! The words of the schema language.

use crate::diag::{did_you_mean, nearest};

pub(super) const WORDS: &[&str] = &["bool", "int", "number", "string", "any", "object", "list", "map"];
/// What people write for one of the words, coming from other languages.
const FOREIGN: &[(&str, &str)] = &[
    ("boolean", "bool"),
    ("integer", "int"),
    ("float", "number"),
    ("double", "number"),
    ("str", "string"),
    ("text", "string"),
    ("array", "list"),
    ("dict", "map"),
    ("flag", "bool"),
];

/// The type that an unknown word most likely means.
pub(super) fn type_hint(word: &str, known: &[&str]) -> Option<String> {
    let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    match foreign.filter(|ours| known.contains(ours)).or(nearest(word, known.iter().copied())) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None => did_you_mean(word, known.iter().copied()),
    }
}
