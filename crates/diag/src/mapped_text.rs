//! A text taken out of another text (an expression inside a YAML scalar) that still knows where each byte came from.

use super::{Source, Span};

/// A decoded text with, for every byte, the offset in the file it was decoded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedText {
    text: String,
    /// For each byte of `text`, the offset of its character in `file`.
    offsets: Vec<usize>,
    file: Source,
    /// The whole place in `file`, for what cannot be mapped to a part of it.
    whole: Span,
}

impl MappedText {
    /// A text whose every byte has an offset in `file`. When the lengths differ (the text could not be mapped), every
    /// span maps to the `whole`.
    pub fn new(text: impl Into<String>, offsets: Vec<usize>, file: Source, whole: Span) -> Self {
        Self { text: text.into(), offsets, file, whole }
    }

    /// A text that could not be mapped byte by byte.
    pub fn opaque(text: impl Into<String>, file: Source, whole: Span) -> Self {
        Self::new(text, Vec::new(), file, whole)
    }

    /// The decoded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file that contains the text.
    pub fn file(&self) -> &Source {
        &self.file
    }

    /// The whole place of the text in its file.
    pub fn whole(&self) -> Span {
        self.whole
    }

    /// The place in the file of a span of the decoded text.
    pub fn locate(&self, span: Span) -> Span {
        if self.offsets.len() != self.text.len() || self.offsets.is_empty() {
            return self.whole;
        }
        let last = self.offsets.len() - 1;
        let start = self.offsets[span.start.min(last)];
        let end = match span.end.checked_sub(1).map(|at| at.min(last)) {
            Some(at) if span.end > span.start => {
                let origin = self.offsets[at];
                origin + self.file.text()[origin..].chars().next().map_or(1, char::len_utf8)
            }
            _ => start,
        };
        Span::new(start, end)
    }

    /// The same text with `insert` put before each of the byte offsets `at` (ascending); what is inserted maps to the
    /// character it was put before.
    #[must_use]
    pub fn with_inserted(&self, at: &[usize], insert: &str) -> Self {
        let mut text = String::with_capacity(self.text.len() + at.len() * insert.len());
        let mut offsets = Vec::with_capacity(text.capacity());
        let mapped = self.offsets.len() == self.text.len();
        let mut next = at.iter().peekable();
        for (index, ch) in self.text.char_indices() {
            let origin = if mapped { self.offsets[index] } else { 0 };
            if next.next_if(|&&place| place == index).is_some() {
                text.push_str(insert);
                offsets.extend(std::iter::repeat_n(origin, insert.len()));
            }
            text.push(ch);
            offsets.extend(std::iter::repeat_n(origin, ch.len_utf8()));
        }
        Self { text, offsets: if mapped { offsets } else { Vec::new() }, file: self.file.clone(), whole: self.whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_map_back_through_an_insertion() {
        let file = Source::new("p.yaml", "condition: 'é < b'");
        let mapped = MappedText::new("é < b", vec![12, 12, 14, 15, 16, 17], file.clone(), Span::new(11, 19));
        let inserted = mapped.with_inserted(&[0, 5], "a.");
        assert_eq!(inserted.text(), "a.é < a.b");
        assert_eq!(file.slice(inserted.locate(Span::new(2, 4))), "é");
        assert_eq!(file.slice(inserted.locate(Span::new(7, 10))), "b");
    }

    #[test]
    fn what_cannot_be_mapped_labels_the_whole() {
        let file = Source::new("p.yaml", "c: >\n  x\n");
        let mapped = MappedText::opaque("x", file, Span::new(3, 8));
        assert_eq!(mapped.locate(Span::new(0, 1)), Span::new(3, 8));
    }
}
