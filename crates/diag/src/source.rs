//! A named text and byte spans in it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A byte range `[start, end)` in the text of a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span `[start, end)`; an end before the start is taken as an empty span at `start`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The number of bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// True if the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// A text with its displayed name (a path below its root, `<stdin>`, ...). Cloning is one reference count.
#[derive(Clone)]
pub struct Source(Arc<SourceInner>);

struct SourceInner {
    name: String,
    text: Cow<'static, str>,
    bundled: bool,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.name() == other.name() && self.text() == other.text())
    }
}

impl Eq for Source {}

impl Source {
    /// Names a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self(Arc::new(SourceInner { name: name.into(), text: Cow::Owned(text.into()), bundled: false }))
    }

    /// Names a text that is compiled into the program, which its build has checked.
    pub fn bundled(name: impl Into<String>, text: &'static str) -> Self {
        Self(Arc::new(SourceInner { name: name.into(), text: Cow::Borrowed(text), bundled: true }))
    }

    /// The same text by another name.
    #[must_use]
    pub fn renamed(&self, name: impl Into<String>) -> Self {
        let SourceInner { text, bundled, .. } = &*self.0;
        Self(Arc::new(SourceInner { name: name.into(), text: text.clone(), bundled: *bundled }))
    }

    /// The same text by its path below a directory, if it is there.
    #[must_use]
    pub fn below(&self, directory: &str) -> Self {
        self.name().strip_prefix(directory).map_or_else(|| self.clone(), |name| self.renamed(name))
    }

    /// Whether it is a text of the program's own, checked when the program was built.
    pub fn is_bundled(&self) -> bool {
        self.0.bundled
    }

    /// The name shown in diagnostics.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// These texts with this one in the place of the one that has its name.
    pub fn instead_in(&self, texts: &[Self]) -> Vec<Self> {
        texts.iter().map(|text| if text.name() == self.name() { self } else { text }).cloned().collect()
    }

    /// The text of a span; empty when the span is not on character boundaries inside the text.
    pub fn slice(&self, span: Span) -> &str {
        self.0.text.get(span.start..span.end).unwrap_or("")
    }

    /// The 1-based line and 1-based character column of a byte offset (an offset past the end counts as the end).
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let text = self.text();
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The byte offset of a 1-based line and 1-based character column; past the end of the line, the end of the line.
    pub fn offset(&self, line: usize, column: usize) -> usize {
        let text = self.text();
        let start = match line {
            0 | 1 => 0,
            n => text.match_indices('\n').nth(n - 2).map_or(text.len(), |(at, _)| at + 1),
        };
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        text[start..end].char_indices().nth(column.saturating_sub(1)).map_or(end, |(at, _)| start + at)
    }
}

/// The beginning of the line between a text and the one that it extends; the name of that one follows.
const EXTENDED: &str = "\n--- # extended file: ";

/// A YAML file that extends another one is one source with two documents: its own text and, below a line with its name, that of the
/// other one, which may extend a third.
impl Source {
    /// This text, extending another one.
    #[must_use]
    pub fn extending(&self, base: &Self) -> Self {
        let of = if base.is_bundled() { " (bundled)" } else { "" };
        let name = base.name();
        Self::new(self.name(), format!("{}{EXTENDED}{name}{of}\n{}", self.text().trim_end(), base.text()))
    }

    /// The texts that it consists of, its own first.
    pub fn parts(&self) -> Vec<Span> {
        let text = self.text();
        let breaks: Vec<usize> = text.match_indices(EXTENDED).map(|(at, _)| at).collect();
        let starts = std::iter::once(0).chain(breaks.iter().map(|at| {
            let line = at + EXTENDED.len();
            text[line..].find('\n').map_or(text.len(), |end| line + end + 1)
        }));
        let ends = breaks.iter().copied().chain([text.len()]);
        starts.zip(ends).map(|(start, end)| Span::new(start, end)).collect()
    }

    /// Its own text, without those that it extends.
    pub fn own(&self) -> &str {
        self.text().split(EXTENDED).next().unwrap_or_default()
    }

    /// The text that a span is in, and the place of the span in that text.
    pub fn resolve(&self, span: Span) -> (Self, Span) {
        let text = self.text();
        if !text.contains(EXTENDED) {
            return (self.clone(), span);
        }
        let parts = self.parts();
        let part = parts.iter().rev().find(|part| part.start <= span.start).copied().unwrap_or_default();
        let below = Span::new(span.start - part.start, span.end.clamp(span.start, part.end.max(span.start)) - part.start);
        (Self::new(self.part_name(part), self.slice(part)), below)
    }

    fn part_name(&self, part: Span) -> &str {
        let line = self.text()[..part.start].trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
        line.strip_prefix(EXTENDED.trim_start()).unwrap_or(self.name())
    }

    /// A place as `FILE:LINE`.
    pub fn place(&self, offset: usize) -> String {
        if !self.text().contains(EXTENDED) {
            return format!("{}:{}", self.name(), self.line_column(offset).0);
        }
        let (source, span) = self.resolve(Span::new(offset, offset));
        format!("{}:{}", source.name(), source.line_column(span.start).0)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({}, {} bytes)", self.name(), self.text().len())
    }
}

/// The last character boundary at or before a byte offset.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_extends_another_knows_the_places_of_both() {
        let base = Source::bundled("rca.yaml", "a: 1\nb: 2\n");
        let source = Source::new("rca.yaml", "extends: rca\nb: 3\n").extending(&base);
        assert_eq!(source.own(), "extends: rca\nb: 3");
        let texts: Vec<&str> = source.parts().into_iter().map(|part| source.slice(part)).collect();
        assert_eq!(texts, ["extends: rca\nb: 3", "a: 1\nb: 2\n"]);
        let place = |of: &str, after: usize| source.place(after + source.text()[after..].find(of).expect("there"));
        assert_eq!([place("b:", 0), place("b:", source.own().len())], ["rca.yaml:2", "rca.yaml (bundled):2"]);
        let at = source.text().find('2').expect("there");
        let (part, span) = source.resolve(Span::new(at, at + 1));
        assert_eq!((part.slice(span), part.name()), ("2", "rca.yaml (bundled)"));
    }

    #[test]
    fn lines_and_offsets_are_inverse() {
        let source = Source::new("x", "aé\nbc\n\nd");
        for (offset, at) in [(0, (1, 1)), (1, (1, 2)), (3, (1, 3)), (4, (2, 1)), (7, (3, 1)), (8, (4, 1)), (9, (4, 2))] {
            assert_eq!(source.line_column(offset), at, "offset {offset}");
            assert_eq!(source.offset(at.0, at.1), offset, "{at:?}");
        }
    }

    #[test]
    fn positions_outside_the_text_are_clamped() {
        let source = Source::new("x", "ab\nc");
        assert_eq!(source.line_column(99), (2, 2));
        assert_eq!(source.offset(1, 99), 2);
        assert_eq!(source.offset(9, 9), 4);
    }
}
