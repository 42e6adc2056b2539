//! The table of mutators.

use super::words::{MutantEdit, ScriptWords};
use super::{operators, shapes, values};

/// A way to change a script in one place.
#[derive(Clone, Copy)]
pub struct Mutator {
    /// How it is called in an allow.
    pub id: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The changes it makes at a token.
    pub(super) at: fn(&ScriptWords<'_>, usize) -> Vec<MutantEdit>,
}

const fn mutator(id: &'static str, about: &'static str, at: fn(&ScriptWords<'_>, usize) -> Vec<MutantEdit>) -> Mutator {
    Mutator { id, about, at }
}

static MUTATORS: &[Mutator] = &[
    mutator("boundary", "`>=` and `>`, `<=` and `<` stand for each other", operators::boundary),
    mutator("comparison", "a comparison says the contrary", operators::comparison),
    mutator("logic", "`&&` and `||` stand for each other", operators::logic),
    mutator("not", "a `!` is taken away", operators::not),
    mutator("arithmetic", "`+` and `-`, `*` and `/` stand for each other, in assignments too", operators::arithmetic),
    mutator("call", "`any` and `all`, `min` and `max`, `starts_with` and `ends_with` stand for each other", operators::call),
    mutator("boolean", "`true` and `false` stand for each other", values::boolean),
    mutator("number", "a number is a little more, or a little less", values::number),
    mutator("threshold", "another var is read, or one more than it says", values::threshold),
    mutator("string", "a word is empty, an empty text is not", values::string),
    mutator("condition", "a condition is always true, or never", shapes::condition),
    mutator("return", "`return` gives nothing back", shapes::give_back),
    mutator("statement", "a statement is left out", shapes::statement),
];

/// All mutators.
pub fn mutators() -> &'static [Mutator] {
    MUTATORS
}
