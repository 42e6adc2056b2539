//! The script type `list`: read-only items.

use super::fingerprint::ContentHash;
use super::{Path, View};
use crate::fault::{self, ScriptFault};
use rhai::{Dynamic, EvalAltResult};
use std::sync::Arc;

/// An immutable list.
#[derive(Clone)]
pub(crate) struct ListView(Arc<ListInner>);

struct ListInner {
    items: Box<[View]>,
    path: Path,
    hash: ContentHash,
}

impl ListView {
    pub(super) fn new(items: Box<[View]>, path: Path) -> Self {
        Self(Arc::new(ListInner { items, path, hash: ContentHash::default() }))
    }

    pub(crate) fn items(&self) -> &[View] {
        &self.0.items
    }

    pub(super) fn content_hash(&self) -> &ContentHash {
        &self.0.hash
    }

    /// Its address, valid for its lifetime.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The items as script values.
    pub(super) fn array(&self) -> rhai::Array {
        self.items().iter().map(View::dynamic).collect()
    }

    /// The item at an index; a negative one counts from the end.
    pub(super) fn at(&self, index: i64) -> Option<&View> {
        let at = if index < 0 {
            self.items().len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(index).ok()?
        };
        self.items().get(at)
    }

    /// The item at an index, or an error.
    pub(super) fn read(&self, index: i64) -> Result<Dynamic, Box<EvalAltResult>> {
        match self.at(index) {
            Some(item) => Ok(item.dynamic()),
            None => self.absent(index),
        }
    }

    #[cold]
    fn absent(&self, index: i64) -> Result<Dynamic, Box<EvalAltResult>> {
        let (path, count) = (&self.0.path, self.items().len());
        let message = match count {
            0 => format!("`{path}` is empty: no item [{index}]"),
            1 => format!("`{path}` has one item: no item [{index}]"),
            count => format!("`{path}` has {count} items: no item [{index}]"),
        };
        let help = "test `.len()` first, or use `.get(i)`, `.first()` or `.last()`, which return `()` if there is none";
        ScriptFault::new(fault::INDEX, message).help(help).fail()
    }
}

impl ListView {
    /// Its name in messages, shared.
    pub(super) fn shared_path(&self) -> Path {
        self.0.path.clone()
    }
}

/// Iterates without copying the list.
impl IntoIterator for ListView {
    type Item = Dynamic;
    type IntoIter = ListIter;
    fn into_iter(self) -> ListIter {
        ListIter { list: self, next: 0 }
    }
}

/// An iterator over a list.
pub(crate) struct ListIter {
    list: ListView,
    next: usize,
}

impl Iterator for ListIter {
    type Item = Dynamic;
    fn next(&mut self) -> Option<Dynamic> {
        let item = self.list.items().get(self.next)?;
        self.next += 1;
        Some(item.dynamic())
    }
}
