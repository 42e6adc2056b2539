//! The content of data files, each read when it is first asked for.

use super::domain::Domain;
use asterisk_base::model::Deferred;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The name of the domain among the data files.
pub(super) const DOMAIN: &str = "domain";

/// Data files by stem, with the domain as `domain`. A bundled file is read when it is first asked for.
#[derive(Debug, Default)]
pub struct DataFiles {
    files: BTreeMap<String, Deferred<Value>>,
    domain: Option<Deferred<Option<Domain>>>,
    all: OnceLock<Map<String, Value>>,
}

impl DataFiles {
    /// No files but the domain.
    pub(super) fn new(domain: Option<Deferred<Option<Domain>>>) -> Self {
        Self { domain, ..Self::default() }
    }

    /// Adds a file.
    pub(super) fn add(&mut self, stem: String, file: Deferred<Value>) {
        self.files.insert(stem, file);
    }

    /// Whether there is a domain. Does not read it.
    pub(super) fn has_domain(&self) -> bool {
        self.domain.is_some()
    }

    /// The content of a file.
    pub fn get(&self, stem: &str) -> Option<&Value> {
        if stem == DOMAIN {
            return self.linked_domain().map(|domain| &domain.value);
        }
        self.files.get(stem).map(|file| &**file)
    }

    /// The names under which scripts see them.
    pub(super) fn stems(&self) -> Vec<String> {
        // A domain that cannot be linked is an error of its own.
        self.files.keys().cloned().chain([DOMAIN.to_owned()]).collect()
    }

    /// All files in one map.
    pub fn all(&self) -> &Map<String, Value> {
        self.all.get_or_init(|| {
            let mut all: Map<String, Value> = self.files.iter().map(|(stem, file)| (stem.clone(), (**file).clone())).collect();
            all.extend(self.linked_domain().map(|domain| (DOMAIN.to_owned(), domain.value.clone())));
            all
        })
    }

    /// The domain.
    pub(super) fn linked_domain(&self) -> Option<&Domain> {
        self.domain.as_ref().and_then(|domain| domain.as_ref())
    }
}

impl From<Map<String, Value>> for DataFiles {
    fn from(files: Map<String, Value>) -> Self {
        let files = files.into_iter().map(|(stem, file)| (stem, Deferred::ready(file))).collect();
        Self { files, domain: None, all: OnceLock::new() }
    }
}
