//! The one diagnostic type: a code, a sentence, labels on tokens, and what to do about it.

use super::{Source, Span};
use std::borrow::Cow;
use std::fmt;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Advice,
    /// Runs, but smells.
    Warning,
    /// Does not compile, parse, link or go on.
    Error,
}

/// A place in a text with a remark. The first label of a diagnostic is the primary one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text.
    pub source: Source,
    /// The place in it.
    pub span: Span,
    /// The remark; may be empty.
    pub text: String,
}

impl Label {
    /// A label at a place of a text, or of the one that it extends. A span that begins or ends within a character (parsers count bytes) is
    /// widened to the whole of it, so that the labelled text can always be had.
    pub fn new(source: &Source, span: Span, text: impl Into<String>) -> Self {
        let (source, span) = source.resolve(span);
        let whole = source.text();
        let is_boundary = |at: &usize| whole.is_char_boundary(*at);
        let start = (0..=span.start.min(whole.len())).rev().find(is_boundary).unwrap_or_default();
        let end = (span.end.min(whole.len())..=whole.len()).find(is_boundary).unwrap_or(whole.len());
        Self { source, span: Span::new(start, end), text: text.into() }
    }
}

/// A finding, as text and as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `area/name`, stable, for people to search and programs to match.
    pub code: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// A sentence in the words of the author of its text.
    pub message: String,
    /// Places; the first is the primary one, the others may lie in other texts (call frames).
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a label yet.
    pub fn error(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning without a label yet.
    pub fn warning(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Adds a label; the first added is the primary one.
    #[must_use]
    pub fn label(mut self, source: &Source, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label::new(source, span, text));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, if there is anything to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// The primary label, if there is one.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.first()
    }

    /// `file:line:column` of the primary label.
    pub fn place(&self) -> Option<String> {
        self.primary().map(|label| {
            let (line, column) = label.source.line_column(label.span.start);
            format!("{}:{line}:{column}", label.source.name())
        })
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place() {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// Everything an analysis found, in the order it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// No findings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all findings of another analysis.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(more);
    }

    /// True if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of findings.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// The findings.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// `value` if no finding is an error, else the findings.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.has_errors() { Err(self) } else { Ok(value) }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parsers count bytes, and may stop within a character.
    #[test]
    fn a_label_is_of_whole_characters() {
        let source = Source::new("x", "a\u{e9}\u{1f600}");
        for start in 0..9 {
            for end in start..9 {
                let one = Diagnostic::error("a/b", "c").label(&source, Span::new(start, end), "");
                let span = one.labels[0].span;
                let text = source.text().get(span.start..span.end).expect("a text");
                assert!(span.start <= start.min(7) && span.end >= end.min(7), "{start}..{end}: {text:?}");
            }
        }
    }
}
