//! How a line looks on a terminal.

use super::clean::{Printed, cleaned};
use std::borrow::Cow;

/// A text with looks: every part of it was cleaned before it got one, so the escapes in it are our own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Painted(String);

impl Painted {
    /// Takes a text whose foreign parts are clean.
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, escapes and all.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Printed for Painted {
    fn printed(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.as_str())
    }
}

/// A look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    /// As it is.
    Plain,
    /// A heading.
    Bold,
    /// What went well.
    Green,
    /// What went wrong.
    Red,
    /// What one may pass over.
    Dim,
}

impl TextStyle {
    /// The text in this look, cleaned. Off a terminal, whoever prints it takes the look away again.
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
