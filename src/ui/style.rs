//! Text styles.

use super::clean::{Printed, cleaned};
use std::borrow::Cow;

/// Styled text: every part was cleaned before it was styled, so the only escapes in it are our own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Painted(String);

impl Painted {
    /// Wraps a text whose untrusted parts are clean.
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text with its escapes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Printed for Painted {
    fn printed(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.as_str())
    }
}

/// A style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// Unstyled.
    Plain,
    /// A heading.
    Bold,
    /// Success.
    Green,
    /// Failure.
    Red,
    /// Secondary text.
    Dim,
}

impl TextStyle {
    /// Cleans and styles a text. Without a terminal, the printer strips the style.
    pub fn paint(self, text: &str) -> Painted {
        let text = cleaned(text);
        let code = match self {
            Self::Plain => return Painted(text.into_owned()),
            Self::Bold => "1",
            Self::Green => "32",
            Self::Red => "31",
            Self::Dim => "2",
        };
        Painted(if text.is_empty() { String::new() } else { format!("\u{1b}[{code}m{text}\u{1b}[0m") })
    }
}
