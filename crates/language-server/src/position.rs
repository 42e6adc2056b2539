//! Offsets in bytes, and the positions of the protocol: a line, and a column in the client's units.

use asterisk_diag::{Span, floor_boundary};
use gen_lsp_types::{Position, Range};

/// The unit of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ColumnUnit {
    Utf8,
    /// What every client knows.
    #[default]
    Utf16,
}

/// The lines of a text.
#[derive(Clone, Debug)]
pub(super) struct LineStarts {
    /// The first byte of each line.
    starts: Vec<usize>,
    unit: ColumnUnit,
}

impl LineStarts {
    pub(super) fn new(text: &str, unit: ColumnUnit) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after).collect(), unit }
    }

    /// The number of lines, at least 1.
    pub(super) fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The line that holds a byte, from 0.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// The bytes of a line, without its end.
    pub(super) fn line_span(&self, text: &str, line: usize) -> Span {
        let start = self.starts.get(line).copied().unwrap_or(text.len());
        let end = self.starts.get(line + 1).map_or(text.len(), |next| next - 1);
        let end = if end > start && text.as_bytes()[end - 1] == b'\r' { end - 1 } else { end };
        Span::new(start, end)
    }

    /// The position of a byte; one within a character is that of the character.
    pub(super) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = floor_boundary(text, offset.min(text.len()));
        let line = self.line(offset);
        let before = &text[self.starts[line]..offset];
        let column = match self.unit {
            ColumnUnit::Utf8 => before.len(),
            ColumnUnit::Utf16 => before.encode_utf16().count(),
        };
        Position { line: small(line), character: small(column) }
    }

    /// The byte at a position; beyond the end of a line, its end; beyond the end of the text, its end.
    pub(super) fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.lines() {
            return text.len();
        }
        let span = self.line_span(text, line);
        let column = position.character as usize;
        match self.unit {
            ColumnUnit::Utf8 => floor_boundary(text, (span.start + column).min(span.end)),
            ColumnUnit::Utf16 => {
                let mut left = column;
                for (at, char) in text[span.start..span.end].char_indices() {
                    if left < char.len_utf16() {
                        return span.start + at;
                    }
                    left -= char.len_utf16();
                }
                span.end
            }
        }
    }

    pub(super) fn range(&self, text: &str, span: Span) -> Range {
        Range { start: self.position(text, span.start), end: self.position(text, span.end) }
    }

    pub(super) fn span(&self, text: &str, range: Range) -> Span {
        Span::new(self.offset(text, range.start), self.offset(text, range.end))
    }
}

/// A number of lines or columns, as the protocol writes it.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_are_counted_in_the_clients_unit() {
        let text = "a😀b\r\nc";
        let wide = LineStarts::new(text, ColumnUnit::Utf16);
        assert_eq!(wide.position(text, 5), Position { line: 0, character: 3 });
        assert_eq!(wide.offset(text, Position { line: 0, character: 2 }), 1, "within a pair");
        assert_eq!(wide.offset(text, Position { line: 0, character: 99 }), 6);
        assert_eq!(wide.offset(text, Position { line: 9, character: 0 }), text.len());
        let narrow = LineStarts::new(text, ColumnUnit::Utf8);
        assert_eq!(narrow.position(text, 5), Position { line: 0, character: 5 });
    }

    proptest! {
        #[test]
        fn offsets_survive(text in "[a-z\n\r😀ä]{0,40}", at in 0usize..60) {
            for unit in [ColumnUnit::Utf8, ColumnUnit::Utf16] {
                let index = LineStarts::new(&text, unit);
                let at = floor_boundary(&text, at.min(text.len()));
                let back = index.offset(&text, index.position(&text, at));
                // A position behind a carriage return is the end of its line.
                prop_assert!(back == at || (text[..at].ends_with('\r') && back + 1 == at), "{at} became {back}");
            }
        }
    }
}
