//! The documents that the client has open, as it sees them.

use super::location::path_of;
use super::position::{ColumnUnit, LineStarts};
use asterisk_files::UnsavedTexts;
use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text with its lines.
#[derive(Clone, Debug)]
pub(super) struct IndexedText {
    pub(super) text: Arc<str>,
    pub(super) lines: LineStarts,
}

impl IndexedText {
    pub(super) fn new(text: impl Into<Arc<str>>, unit: ColumnUnit) -> Self {
        let text = text.into();
        Self { lines: LineStarts::new(&text, unit), text }
    }
}

/// An open document.
#[derive(Clone, Debug)]
pub(super) struct OpenDocument {
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: IndexedText,
}

/// The open documents of files, by path. Others, such as unnamed ones, are not followed.
#[derive(Debug, Default)]
pub(super) struct Documents {
    open: BTreeMap<PathBuf, OpenDocument>,
    pub(super) unit: ColumnUnit,
}

impl Documents {
    pub(super) fn get(&self, path: &Path) -> Option<&OpenDocument> {
        self.open.get(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &OpenDocument)> {
        self.open.iter()
    }

    pub(super) fn open(&mut self, uri: Uri, version: i32, text: String) -> Option<PathBuf> {
        let path = path_of(&uri)?;
        self.open.insert(path.clone(), OpenDocument { uri, version, text: IndexedText::new(text, self.unit) });
        Some(path)
    }

    pub(super) fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = path_of(uri)?;
        self.open.remove(&path)?;
        Some(path)
    }

    /// Applies changes in turn.
    pub(super) fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) -> Option<PathBuf> {
        let path = path_of(uri)?;
        let unit = self.unit;
        let document = self.open.get_mut(&path)?;
        for change in changes {
            let text = match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => whole.text,
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let span = document.text.lines.span(&document.text.text, part.range);
                    let mut text = document.text.text.to_string();
                    text.replace_range(span.start..span.end, &part.text);
                    text
                }
            };
            document.text = IndexedText::new(text, unit);
        }
        document.version = version;
        Some(path)
    }

    /// All of their texts.
    pub(super) fn unsaved(&self) -> UnsavedTexts {
        self.open.iter().map(|(path, document)| (path.clone(), document.text.text.to_string())).collect()
    }
}
