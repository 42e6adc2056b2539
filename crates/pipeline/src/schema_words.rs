//! The words of the schema language.

use asterisk_diag::{did_you_mean, nearest};

pub(super) const WORDS: &[&str] = &["bool", "int", "number", "string", "any", "object", "list", "map"];
/// Type names from other languages, with their equivalents here.
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

/// The most likely intended type for an unknown word.
pub(super) fn type_hint(word: &str, known: &[&str]) -> Option<String> {
    let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    match foreign.filter(|ours| known.contains(ours)).or(nearest(word, known.iter().copied())) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None => did_you_mean(word, known.iter().copied()),
    }
}
