//! The texts compiled into a version of the program, as one content of a store: a run refers to them by its address.

use asterisk_base::model::{Hash, Hasher};
use asterisk_diag::Source;
use asterisk_walk::Blob;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The bundled texts of a version of the program.
#[derive(Debug)]
pub struct TextBundle {
    /// By area (`scripts`, `data`, `templates`, `pipelines`) and name.
    files: BTreeMap<String, BTreeMap<String, (Source, Hash)>>,
    /// Area and name by the address of the text.
    by_hash: BTreeMap<Hash, (String, String)>,
    address: OnceLock<Hash>,
}

impl PartialEq for TextBundle {
    fn eq(&self, other: &Self) -> bool {
        self.by_hash == other.by_hash
    }
}

impl TextBundle {
    /// The texts of areas.
    pub fn new(texts: impl IntoIterator<Item = (String, Source)>) -> Self {
        let mut bundle = Self { files: BTreeMap::new(), by_hash: BTreeMap::new(), address: OnceLock::new() };
        for (area, source) in texts {
            let (name, hash) = (source.name().to_owned(), Hash::of(source.text().as_bytes()));
            bundle.by_hash.insert(hash, (area.clone(), name.clone()));
            bundle.files.entry(area).or_default().insert(name, (source, hash));
        }
        bundle
    }

    /// Reads what a version of the program stored; `None` if it is damaged.
    pub fn parse(text: &str) -> Option<Self> {
        let (list, mut texts) = text.split_once('\n')?;
        let list: Vec<(String, String, usize)> = serde_json::from_str(list).ok()?;
        let mut files = Vec::with_capacity(list.len());
        for (area, name, length) in list {
            let (file, rest) = texts.split_at_checked(length)?;
            files.push((area, Source::new(name, file)));
            texts = rest;
        }
        Some(Self::new(files))
    }

    /// The content to store: a list of areas, names and lengths in bytes on one line, then the texts one after the other.
    pub fn blob(&self) -> Blob {
        let text: String = self.parts(|parts| parts.collect());
        Blob { hash: self.stored_address(), text: text.into() }
    }

    /// The address of the content to store.
    pub fn stored_address(&self) -> Hash {
        *self.address.get_or_init(|| {
            let mut hasher = Hasher::default();
            self.parts(|parts| parts.for_each(|part| hasher.update(part.as_bytes())));
            hasher.finish()
        })
    }

    /// Calls a function with the parts of the content to store.
    fn parts<T>(&self, take: impl FnOnce(&mut dyn Iterator<Item = &str>) -> T) -> T {
        let files = || self.files.iter().flat_map(|(area, files)| files.values().map(move |(source, _)| (area, source)));
        let list: Vec<_> = files().map(|(area, source)| (area, source.name(), source.text().len())).collect();
        let mut list = serde_json::to_string(&list).unwrap_or_default();
        list.push('\n');
        take(&mut std::iter::once(list.as_str()).chain(files().map(|(_, source)| source.text())))
    }

    /// The texts of an area by name, each with its address.
    pub(super) fn area(&self, area: &str) -> impl Iterator<Item = (&str, Hash)> {
        self.files.get(area).into_iter().flatten().map(|(name, (_, hash))| (name.as_str(), *hash))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_reads_back() {
        let file = |area: &str, name: &str, text: &str| (area.to_owned(), Source::new(name, text));
        let files =
            [file("scripts", "a.rhai", "fn f() { 1 }\n"), file("data", "é.yaml", "ö: 1\n"), file("data", "empty.yaml", "")];
        let bundle = TextBundle::new(files);
        let read = TextBundle::parse(&bundle.blob().text).expect("it is whole");
        assert_eq!(read, bundle);
        assert_eq!(read.blob(), Blob::new(bundle.blob().text));
        let hash = Hash::of("ö: 1\n".as_bytes());
        assert_eq!(read.text(&hash).map(|source| (source.name(), source.text())), Some(("é.yaml", "ö: 1\n")));
        let text = bundle.blob().text;
        assert_eq!(TextBundle::parse(&text[..text.len() - 1]), None);
    }
}
