//! Renames the files in findings to their paths on disk.

use asterisk_diag::{Diagnostic, Label, Source};
use asterisk_session::ProjectText;
use std::collections::BTreeMap;

/// The texts by their names within the project.
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
            // Data files are named relative to `data/`.
            by_name.entry(name.strip_prefix("data/").unwrap_or(name)).or_default().push(text);
        }
        Self { texts: by_name, made: BTreeMap::new() }
    }

    /// The text of a label.
    pub(super) fn text(&self, label: &Label) -> Option<&'a ProjectText> {
        let named = self.texts.get(label.source.name())?;
        let same = named.iter().find(|text| text.source.own() == label.source.text());
        same.or_else(|| named.iter().find(|text| text.source.own().len() == label.source.text().len())).copied()
    }

    /// The text under its path on disk.
    pub(super) fn source(&mut self, text: &ProjectText) -> Source {
        let made = self.made.entry(text.shown.clone());
        made.or_insert_with(|| Source::new(text.shown.clone(), text.source.own())).clone()
    }

    /// Renames the files of a diagnostic.
    pub(super) fn rename(&mut self, mut diagnostic: Diagnostic) -> Diagnostic {
        for label in &mut diagnostic.labels {
            if let Some(text) = self.text(label) {
                label.source = self.source(text);
            }
        }
        diagnostic
    }
}
