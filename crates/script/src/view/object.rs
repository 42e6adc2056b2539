//! The script type `object`: read-only fields.

use super::fingerprint::ContentHash;
use super::{FieldName, Path, View};
use crate::fault::{self, ScriptFault};
use crate::memo::{read_field, read_presence, read_whole};
use asterisk_base::model::{Kind, Shape};
use asterisk_diag::did_you_mean;
use rhai::{Dynamic, EvalAltResult};
use std::collections::HashMap;
use std::sync::Arc;

/// The number of fields from which an object has a hash index; below it, a binary search is as fast.
const INDEXED: usize = 32;

/// An immutable object.
#[derive(Clone)]
pub(crate) struct ObjectView(Arc<ObjectInner>);

struct ObjectInner {
    /// Sorted by key.
    entries: Box<[ObjectEntry]>,
    index: Option<HashMap<FieldName, usize>>,
    path: Path,
    absent: Absent,
    hash: ContentHash,
}

/// A present field.
pub(super) struct ObjectEntry {
    pub(super) key: FieldName,
    pub(super) view: View,
    /// False for a field that the schema does not declare: it is kept, but cannot be read.
    pub(super) known: bool,
}

/// How an absent field reads.
pub(super) enum Absent {
    /// It is an error.
    Refused,
    /// As the zero value of its declared type; an error if it is not declared.
    Declared(Arc<Shape>),
    /// As the zero value of this type, for any name.
    Zero(Kind),
    /// As this value, for any name.
    Reads(View),
}

impl ObjectView {
    pub(super) fn new(mut entries: Box<[ObjectEntry]>, path: Path, absent: Absent) -> Self {
        if !entries.is_sorted_by(|a, b| a.key.as_str() < b.key.as_str()) {
            entries.sort_by(|a, b| a.key.as_str().cmp(b.key.as_str()));
        }
        let index =
            (entries.len() > INDEXED).then(|| entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect());
        Self(Arc::new(ObjectInner { entries, index, path, absent, hash: ContentHash::default() }))
    }

    pub(super) fn empty(path: Path, absent: Absent) -> Self {
        Self::new(Box::default(), path, absent)
    }

    pub(super) fn assembled<K: AsRef<str>>(
        name: &'static str,
        entries: impl IntoIterator<Item = (K, View)>,
        absent: Absent,
    ) -> Self {
        let entries = entries.into_iter().map(|(key, view)| ObjectEntry { key: key.as_ref().into(), view, known: true });
        Self::new(entries.collect(), Path::root(name), absent)
    }

    /// The present fields, sorted by key.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &View)> {
        read_whole(self.address());
        self.0.entries.iter().map(|entry| (entry.key.as_str(), &entry.view))
    }

    /// The present fields; not noted as read.
    pub(super) fn raw(&self) -> impl Iterator<Item = &ObjectEntry> {
        self.0.entries.iter()
    }

    /// The number of present fields; not noted as read.
    pub(super) fn count(&self) -> usize {
        self.0.entries.len()
    }

    pub(super) fn absent(&self) -> &Absent {
        &self.0.absent
    }

    pub(super) fn content_hash(&self) -> &ContentHash {
        &self.0.hash
    }

    /// Its address, valid for its lifetime.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn len(&self) -> usize {
        read_whole(self.address());
        self.count()
    }

    fn find(&self, key: &str) -> Option<&ObjectEntry> {
        let inner = &*self.0;
        let at = match &inner.index {
            Some(index) => *index.get(key)?,
            None => inner.entries.binary_search_by(|entry| entry.key.as_str().cmp(key)).ok()?,
        };
        inner.entries.get(at)
    }

    /// The field as given, including null and undeclared ones.
    pub(super) fn given(&self, key: &str) -> Option<&View> {
        read_whole(self.address());
        self.find(key).map(|entry| &entry.view)
    }

    /// Whether the field is present and not null.
    pub(crate) fn has(&self, key: &str) -> bool {
        let is_present = self.is_present(key);
        read_presence(self.address(), key, is_present);
        is_present
    }

    /// The same, not noted as read.
    pub(super) fn is_present(&self, key: &str) -> bool {
        self.find(key).is_some_and(|entry| !entry.view.is_null())
    }

    /// The field as scripts read it; `None` if that is an error.
    pub(crate) fn field(&self, key: &str) -> Option<View> {
        let value = self.value(key);
        read_field(self.address(), key, value.as_ref());
        value
    }

    /// The same, not noted as read.
    pub(super) fn value(&self, key: &str) -> Option<View> {
        match self.find(key) {
            Some(entry) if entry.known && !entry.view.is_null() => Some(entry.view.clone()),
            entry => self.unset(key, entry),
        }
    }

    /// The field as a script value, or the error that it cannot be read.
    pub(crate) fn read(&self, key: &str) -> Result<Dynamic, Box<EvalAltResult>> {
        let unset;
        let value = match self.find(key) {
            Some(entry) if entry.known && !entry.view.is_null() => Some(&entry.view),
            entry => {
                unset = self.unset(key, entry);
                unset.as_ref()
            }
        };
        read_field(self.address(), key, value);
        value.map_or_else(|| self.unknown(key), |value| Ok(value.dynamic()))
    }

    /// The value of a field that is absent, null or undeclared.
    #[cold]
    fn unset(&self, key: &str, entry: Option<&ObjectEntry>) -> Option<View> {
        let path = || Path::field(&self.0.path, key);
        match (&self.0.absent, entry) {
            (Absent::Declared(shape), _) => shape.field(key).map(|field| View::zero(&field.kind, path)),
            (Absent::Zero(kind), _) => Some(View::zero(kind, path)),
            (Absent::Reads(view), _) => Some(view.clone()),
            (Absent::Refused, Some(entry)) => Some(entry.view.clone()),
            (Absent::Refused, None) => None,
        }
    }

    #[cold]
    fn unknown(&self, key: &str) -> Result<Dynamic, Box<EvalAltResult>> {
        let path = &self.0.path;
        let help = match &self.0.absent {
            Absent::Declared(shape) if self.find(key).is_some() => {
                Some(format!("it exists, but the schema of the {} does not declare it: add it to the schema", shape.name))
            }
            Absent::Declared(shape) => did_you_mean(key, shape.fields.iter().map(|field| field.name.as_str())),
            _ if self.0.entries.is_empty() => Some(format!("`{path}` is empty")),
            _ => did_you_mean(key, self.entries().map(|(key, _)| key)),
        };
        let message = format!("no field `{key}` on `{path}`");
        ScriptFault::new(fault::UNKNOWN_FIELD, message).maybe_help(help).fail()
    }
}
