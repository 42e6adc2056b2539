//! The input fields that a function may read, in order of first access.

use super::value::TypedValue;
use asterisk_diag::{Source, Span};
use std::collections::BTreeSet;

/// An input field that a function may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReadSite {
    /// The path: `artifact.match`, `state.loops.investigate`, `artifact.candidate_repos[].score` (of every item), or only the
    /// name of the input if it is used as a whole.
    pub path: String,
    /// The script that reads it, possibly a called one.
    pub source: Source,
    /// The token of the first access.
    pub span: Span,
}

/// Collects reads.
#[derive(Default)]
pub(super) struct ReadCollector {
    seen: BTreeSet<String>,
    list: Vec<FieldReadSite>,
}

impl ReadCollector {
    /// Records a read of a value.
    pub(super) fn add(&mut self, value: &TypedValue<'_>, source: &Source, span: Span) {
        for path in &value.origins {
            if self.seen.insert(path.to_string()) {
                self.list.push(FieldReadSite { path: path.to_string(), source: source.clone(), span });
            }
        }
    }

    /// Returns all reads.
    pub(super) fn into_list(self) -> Vec<FieldReadSite> {
        self.list
    }
}

/// Whether a path is an input itself, not a part of one.
pub(super) fn is_whole(path: &str) -> bool {
    !path.contains(['.', '['])
}
