//! What error messages call a compound value: a chain of names, put together only when a message needs it.

use rhai::ImmutableString;
use std::fmt;
use std::sync::Arc;

/// The place of a compound value: `artifact`, `artifact.nested`, `artifact.repos[]`. All items of a list share one.
#[derive(Debug)]
pub(super) struct Path {
    parent: Option<Arc<Self>>,
    /// Empty for the items of a list.
    name: ImmutableString,
}

impl Path {
    pub(super) fn root(name: impl Into<ImmutableString>) -> Self {
        Self { parent: None, name: name.into() }
    }

    pub(super) fn field(parent: &Arc<Self>, name: ImmutableString) -> Self {
        Self { parent: Some(parent.clone()), name }
    }

    pub(super) fn item(parent: &Arc<Self>) -> Self {
        Self { parent: Some(parent.clone()), name: ImmutableString::new() }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parent {
            None => f.write_str(&self.name),
            Some(parent) if self.name.is_empty() => write!(f, "{parent}[]"),
            Some(parent) => write!(f, "{parent}.{}", self.name),
        }
    }
}
