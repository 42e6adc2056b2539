//! Findings under the names that people know files by.

use crate::diag::{Diagnostic, Label, Source};
use crate::session::ProjectText;
use std::collections::BTreeMap;

/// The texts by the names that the languages know them by.
pub(super) struct LanguageTexts<'a> {
    texts: BTreeMap<&'a str, Vec<&'a ProjectText>>,
    made: BTreeMap<String, Source>,
}

impl<'a> LanguageTexts<'a> {
    pub(super) fn new(texts: &'a [ProjectText]) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&ProjectText>> = BTreeMap::new();
        for text in texts {
            let name = text.source.name();
            by_name.entry(name).or_default().push(text);
            // Data files are known by their names below `data/`.
            by_name.entry(name.strip_prefix("data/").unwrap_or(name)).or_default().push(text);
        }
        Self { texts: by_name, made: BTreeMap::new() }
    }

    /// The text that a label is in.
    pub(super) fn text(&self, label: &Label) -> Option<&'a ProjectText> {
        let named = self.texts.get(label.source.name())?;
        let same = named.iter().find(|text| text.source.text() == label.source.text());
        same.or_else(|| named.iter().find(|text| text.source.text().len() == label.source.text().len())).copied()
    }

    /// The text as people know it.
    pub(super) fn source(&mut self, text: &ProjectText) -> Source {
        let made = self.made.entry(text.shown.clone());
        made.or_insert_with(|| Source::new(text.shown.clone(), text.source.text())).clone()
    }

    /// The diagnostic with its places so named.
    pub(super) fn rename(&mut self, mut diagnostic: Diagnostic) -> Diagnostic {
        for label in &mut diagnostic.labels {
            if let Some(text) = self.text(label) {
                label.source = self.source(text);
            }
        }
        diagnostic
    }
}
