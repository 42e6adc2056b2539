//! Forms of data files: one table of keys, from which both the checked reading and the JSON Schema come.

mod read;
mod schema;

pub(super) use read::{FormReader, ListedPattern, fill};
pub(super) use schema::json_schema;

/// A map with fixed keys.
#[derive(Debug)]
pub(super) struct Form {
    /// What people call such a map, with an article.
    pub(super) what: &'static str,
    /// Its keys.
    pub(super) keys: &'static [FormKey],
}

/// A key of a [`Form`].
#[derive(Debug)]
pub(super) struct FormKey {
    pub(super) name: &'static str,
    pub(super) holds: ValueForm,
    /// Whether it has to be there. What a vocabulary extends may bring it.
    pub(super) required: bool,
    /// What it says, in a sentence.
    pub(super) doc: &'static str,
}

/// What the value of a key is.
#[derive(Debug)]
pub(super) enum ValueForm {
    /// A text that is not blank.
    Text,
    /// `true` or `false`.
    Bool,
    /// A number within bounds, both included.
    Number(f64, f64),
    /// A whole number within bounds, both included.
    Whole(i64, i64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A regular expression with at least so many groups.
    Pattern(usize),
    /// The name of an entry of the key of this name at the top of the file.
    Name(&'static str),
    /// A list.
    List(&'static Self),
    /// A list of maps, told apart by this key.
    Records(&'static Form, &'static str),
    /// A map from names to values.
    Entries(&'static Self),
    /// A map with fixed keys.
    Map(&'static Form),
}

impl FormKey {
    /// A key that may be left out.
    pub(super) const fn new(name: &'static str, holds: ValueForm, doc: &'static str) -> Self {
        Self { name, holds, required: false, doc }
    }

    /// A key that has to be there.
    pub(super) const fn required(name: &'static str, holds: ValueForm, doc: &'static str) -> Self {
        Self { name, holds, required: true, doc }
    }
}

impl Form {
    /// The key of that name.
    pub(super) fn key(&self, name: &str) -> Option<&'static FormKey> {
        self.keys.iter().find(|key| key.name == name)
    }
}
