//! Formatting the files of a project.
//!
//! A formatter changes the layout of a text and nothing of its meaning, which it verifies for every text.

mod edit;

use crate::rhai::format_rhai;
use crate::template::format_template;
use crate::yaml::format_yaml;
use std::fmt;
use std::ops::Range;

pub use edit::{FormatEdit, apply, diff, edits};

/// The languages that can be formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatLanguage {
    /// Scripts.
    Rhai,
    /// Pipelines and data.
    Yaml,
    /// Prompt templates: Markdown with minijinja.
    Template,
}

impl FormatLanguage {
    /// The language of a file, by the ending of its name.
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "rhai" => Some(Self::Rhai),
            "yaml" | "yml" => Some(Self::Yaml),
            "md" => Some(Self::Template),
            _ => None,
        }
    }
}

/// Formats a text.
pub fn format(language: FormatLanguage, text: &str) -> Result<String, FormatError> {
    match language {
        FormatLanguage::Rhai => format_rhai(text),
        FormatLanguage::Yaml => format_yaml(text),
        FormatLanguage::Template => format_template(text),
    }
}

/// The edits that format a range of bytes: in a script, the statements or functions around it.
pub fn format_range(language: FormatLanguage, text: &str, range: Range<usize>) -> Result<Vec<FormatEdit>, FormatError> {
    let formatted = format(language, text)?;
    let range = if language == FormatLanguage::Rhai { crate::rhai::enclosing(text, range) } else { range };
    Ok(edit::within(edits(text, &formatted), &range))
}

/// Why a text was not formatted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The text does not parse. The bytes from `start` to `end` are wrong; if they are none, something is missing there.
    Syntax { start: usize, end: usize, message: String },
    /// The formatted text would mean something else: a defect of the formatter.
    Changed { place: usize },
}

impl fmt::Display for FormatError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { message, .. } => out.write_str(message),
            Self::Changed { .. } => out.write_str("the formatter would change the meaning of this text"),
        }
    }
}

impl std::error::Error for FormatError {}
