//! The texts compiled into a version of the program, as one content of a store: a run refers to them by its address.

use crate::diag::Source;
use crate::model::Hash;
use crate::walk::Blob;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The bundled texts of a version of the program.
#[derive(Debug)]
pub struct TextBundle {
    /// By area (`scripts`, `data`, `templates`, `pipelines`) and name.
    files: BTreeMap<String, BTreeMap<String, (Source, Hash)>>,
    /// Area and name by the address of the text.
    by_hash: BTreeMap<Hash, (String, String)>,
    blob: OnceLock<Blob>,
}

/// Its form in the store.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct StoredBundle<'t>(BTreeMap<std::borrow::Cow<'t, str>, BTreeMap<std::borrow::Cow<'t, str>, std::borrow::Cow<'t, str>>>);

impl PartialEq for TextBundle {
    fn eq(&self, other: &Self) -> bool {
        self.by_hash == other.by_hash
    }
}

impl TextBundle {
    /// The texts of areas.
    pub fn new(texts: impl IntoIterator<Item = (String, Source)>) -> Self {
        let mut bundle = Self { files: BTreeMap::new(), by_hash: BTreeMap::new(), blob: OnceLock::new() };
        for (area, source) in texts {
            let (name, hash) = (source.name().to_owned(), Hash::of(source.text().as_bytes()));
            bundle.by_hash.insert(hash, (area.clone(), name.clone()));
            bundle.files.entry(area).or_default().insert(name, (source, hash));
        }
        bundle
    }

    /// Reads what a version of the program stored.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let stored: StoredBundle<'_> = serde_json::from_str(text)?;
        let files = stored.0.into_iter().flat_map(|(area, files)| {
            files.into_iter().map(move |(name, text)| (area.clone().into_owned(), Source::new(name, text)))
        });
        Ok(Self::new(files))
    }

    /// The content to store.
    pub fn blob(&self) -> &Blob {
        self.blob.get_or_init(|| {
            let texts = self.files.iter().map(|(area, files)| {
                let files = files.iter().map(|(name, (source, _))| (name.as_str().into(), source.text().into()));
                (area.as_str().into(), files.collect())
            });
            Blob::new(serde_json::to_string(&StoredBundle(texts.collect())).unwrap_or_default())
        })
    }

    /// The texts of an area by name, each with its address.
    pub(super) fn area(&self, area: &str) -> impl Iterator<Item = (&str, &(Source, Hash))> {
        self.files.get(area).into_iter().flatten().map(|(name, file)| (name.as_str(), file))
    }

    /// The address of a text that is one of its own.
    pub(super) fn address(&self, area: &str, source: &Source) -> Option<Hash> {
        let (own, hash) = self.files.get(area)?.get(source.name())?;
        (source.is_bundled() && own.text() == source.text()).then_some(*hash)
    }

    /// The text at an address.
    pub fn text(&self, hash: &Hash) -> Option<&Source> {
        let (area, name) = self.by_hash.get(hash)?;
        self.files.get(area)?.get(name).map(|(source, _)| source)
    }
}
