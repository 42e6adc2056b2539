//! The input fields that a function may read, in the order of their first reading.

use super::value::TypedValue;
use crate::diag::{Source, Span};
use std::collections::BTreeSet;

/// An input field that a function may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReadSite {
    /// Its path: `artifact.match`, `state.loops.investigate`, `artifact.candidate_repos[].score` (of every item), or just
    /// the input's name where the whole of it is used.
    pub path: String,
    /// The script it is read in, which may be one that is called.
    pub source: Source,
    /// The token that reads it, where it is read first.
    pub span: Span,
}

/// Collects reads.
#[derive(Default)]
pub(super) struct ReadCollector {
    seen: BTreeSet<String>,
    list: Vec<FieldReadSite>,
}

impl ReadCollector {
    /// A value is read at a place, whatever it is then used for.
    pub(super) fn add(&mut self, value: &TypedValue<'_>, source: &Source, span: Span) {
        for path in &value.origins {
            if self.seen.insert(path.to_string()) {
                self.list.push(FieldReadSite { path: path.to_string(), source: source.clone(), span });
            }
        }
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<FieldReadSite> {
        self.list
    }
}

/// Whether a value is an input itself, not a part of one.
pub(super) fn is_whole(path: &str) -> bool {
    !path.contains(['.', '['])
}
