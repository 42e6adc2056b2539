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
    mutator("boundary", "`>=` and `>`, `<=` and `<` are exchanged", operators::boundary),
    mutator("comparison", "a comparison is negated", operators::comparison),
    mutator("logic", "`&&` and `||` are exchanged", operators::logic),
    mutator("not", "a `!` is removed", operators::not),
    mutator("arithmetic", "`+` and `-`, `*` and `/` are exchanged, in assignments too", operators::arithmetic),
    mutator("call", "`any` and `all`, `min` and `max`, `starts_with` and `ends_with` are exchanged", operators::call),
    mutator("boolean", "`true` and `false` are exchanged", values::boolean),
    mutator("number", "a number is slightly larger or smaller", values::number),
    mutator("threshold", "another var is read, or its value is off by one", values::threshold),
    mutator("string", "a string is emptied, an empty string is filled", values::string),
    mutator("condition", "a condition is always true or always false", shapes::condition),
    mutator("return", "`return` returns `()`", shapes::give_back),
    mutator("statement", "a statement is removed", shapes::statement),
];

/// All mutators.
pub fn mutators() -> &'static [Mutator] {
    MUTATORS
}
