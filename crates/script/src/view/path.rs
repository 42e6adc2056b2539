//! The names of compound values in error messages: a chain of names, formatted only when a message needs it.

use super::FieldName;
use std::fmt;
use std::sync::Arc;

/// The path of a compound value: `artifact`, `artifact.nested`, `artifact.repos[]`. All items of a list share one.
#[derive(Clone, Debug)]
pub(super) enum Path {
    /// The start of a chain. Most are short enough to be stored inline.
    Root(FieldName),
    /// A part of a value.
    Part(Arc<PathPart>),
}

#[derive(Debug)]
pub(super) struct PathPart {
    parent: Path,
    /// Empty for the items of a list.
    name: FieldName,
}

impl Path {
    pub(super) fn root(name: &str) -> Self {
        Self::Root(name.into())
    }

    pub(super) fn field(parent: &Self, name: &str) -> Self {
        Self::Part(Arc::new(PathPart { parent: parent.clone(), name: name.into() }))
    }

    pub(super) fn item(parent: &Self) -> Self {
        Self::field(parent, "")
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Part(part) if part.name.is_empty() => write!(f, "{}[]", part.parent),
            Self::Part(part) => write!(f, "{}.{}", part.parent, part.name),
        }
    }
}
