//! A value with its source span.

use asterisk_diag::Span;
use std::fmt;
use std::ops::Deref;

/// A value and its source span. Derefs to the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its span in the source text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Attaches a span to a value.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
