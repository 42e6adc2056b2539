//! A long text, in memory or spilled to a store until it is read.

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

/// A long text that is seldom read: in a launch with a hundred thousand logs, most are kept outside memory. Reads, compares and
/// serialises as its content, wherever it is stored.
#[derive(Clone, Debug)]
pub struct LaunchText(TextStorage);

#[derive(Clone, Debug)]
enum TextStorage {
    Here(Box<str>),
    Aside { shelf: Arc<dyn TextStore>, place: u64, len: usize },
}

/// Stores spilled texts.
pub trait TextStore: Debug + Send + Sync {
    /// Reads the `len` bytes at an offset.
    fn text(&self, place: u64, len: usize) -> io::Result<String>;
}

impl LaunchText {
    /// A spilled text: `len` bytes at an offset of a store.
    pub fn aside(shelf: Arc<dyn TextStore>, place: u64, len: usize) -> Self {
        Self(TextStorage::Aside { shelf, place, len })
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            TextStorage::Here(text) => text.len(),
            TextStorage::Aside { len, .. } => *len,
        }
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text. Fails with the error of the store; a text in memory never fails.
    pub fn read(&self) -> io::Result<Cow<'_, str>> {
        match &self.0 {
            TextStorage::Here(text) => Ok(Cow::Borrowed(text)),
            TextStorage::Aside { shelf, place, len } => shelf.text(*place, *len).map(Cow::Owned),
        }
    }

    /// Returns the text, or the reason why it cannot be read, for readers that cannot fail.
    pub fn text_or_error(&self) -> Cow<'_, str> {
        self.read().unwrap_or_else(|error| Cow::Owned(format!("(this text could not be read: {error})")))
    }
}

impl Default for LaunchText {
    fn default() -> Self {
        Self(TextStorage::Here(Box::default()))
    }
}

impl<T: Into<Box<str>>> From<T> for LaunchText {
    fn from(text: T) -> Self {
        Self(TextStorage::Here(text.into()))
    }
}

impl PartialEq for LaunchText {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.text_or_error() == other.text_or_error()
    }
}

impl Serialize for LaunchText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.read().map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for LaunchText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<str>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[derive(Debug)]
    struct FixedShelf(&'static str);

    impl TextStore for FixedShelf {
        fn text(&self, place: u64, len: usize) -> io::Result<String> {
            let from = usize::try_from(place).unwrap();
            self.0.get(from..from + len).map(str::to_owned).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        }
    }

    #[test]
    fn a_text_is_equal_wherever_it_is_stored() {
        let shelf: Arc<dyn TextStore> = Arc::new(FixedShelf("one two"));
        let (here, aside) = (LaunchText::from("two"), LaunchText::aside(Arc::clone(&shelf), 4, 3));
        assert_eq!(here, aside);
        assert_ne!(here, LaunchText::aside(Arc::clone(&shelf), 0, 3));
        assert_eq!(serde_json::to_string(&aside).unwrap(), "\"two\"");
        assert_eq!(serde_json::from_str::<LaunchText>("\"two\"").unwrap(), aside);
        assert!((aside.len(), aside.is_empty()) == (3, false) && LaunchText::default().is_empty());
    }

    #[test]
    fn a_lost_text_is_an_error_with_its_reason() {
        let lost = LaunchText::aside(Arc::new(FixedShelf("")), 4, 3);
        assert!(lost.read().is_err() && serde_json::to_string(&lost).is_err());
        assert!(lost.text_or_error().starts_with("(this text could not be read: "), "{}", lost.text_or_error());
    }
}
