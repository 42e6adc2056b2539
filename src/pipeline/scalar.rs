//! Where each character of a decoded YAML text stands in the file.
//!
//! Decoding a scalar drops or replaces white space and, in quotes, reads escapes; everything else stays, in order. So the
//! decoded text is walked along the written one, character by character, without repeating the rules of chomping, folding
//! and indentation. Where the two cannot be brought together the whole scalar is the place of everything in it.

use super::yaml::{Style, Text};
use crate::diag::{Mapped, Source, Span};

/// The text of a scalar that stands at `span`, with the place of each of its characters.
pub(super) fn mapped(source: &Source, span: Span, text: &Text) -> Mapped {
    match offsets(source.slice(span), text) {
        Some(offsets) => {
            let offsets = offsets.into_iter().map(|offset| offset + span.start).collect();
            Mapped::new(text.value.as_str(), offsets, source.clone(), span)
        }
        None => Mapped::opaque(text.value.as_str(), source.clone(), span),
    }
}

/// For each byte of the decoded text the offset of its character in the written one.
fn offsets(written: &str, text: &Text) -> Option<Vec<usize>> {
    let mut cursor = match text.style {
        Style::Plain | Style::Block => Cursor { rest: written, at: 0, style: text.style },
        Style::Single => Cursor { rest: written.strip_prefix('\'')?.strip_suffix('\'')?, at: 1, style: text.style },
        Style::Double => Cursor { rest: written.strip_prefix('"')?.strip_suffix('"')?, at: 1, style: text.style },
        Style::Alias => return None,
    };
    let mut offsets = Vec::with_capacity(text.value.len());
    for decoded in text.value.chars() {
        let at = cursor.find(decoded)?;
        offsets.extend(std::iter::repeat_n(at, decoded.len_utf8()));
    }
    Some(offsets)
}

/// A place in the written text.
struct Cursor<'a> {
    /// What follows it.
    rest: &'a str,
    /// How much comes before it.
    at: usize,
    style: Style,
}

/// What is written at a place.
enum Piece {
    /// A character (that the escape or doubled quote of this many bytes stands for).
    Char(char, usize),
    /// An escaped line break: nothing, this many bytes long with the indentation of the next line.
    Nothing(usize),
}

impl Cursor<'_> {
    /// The offset of the next decoded character, which is left behind.
    fn find(&mut self, decoded: char) -> Option<usize> {
        loop {
            let Some(piece) = self.piece() else {
                // Chomping may add the line break of a last line that has none in the file.
                return is_white(decoded).then_some(self.at.saturating_sub(1));
            };
            match piece {
                Piece::Nothing(length) => self.skip(length),
                Piece::Char(ch, length) if ch == decoded && !(ch == '\n' && length == 1) => return Some(self.pass(length)),
                Piece::Char('\r' | '\n', 1) if is_white(decoded) => return Some(self.fold(decoded)),
                Piece::Char(ch, 1) if is_white(ch) => {
                    if decoded == '\n' || !is_white(decoded) {
                        self.skip(1);
                    } else {
                        return Some(self.at);
                    }
                }
                Piece::Char(..) => return is_white(decoded).then_some(self.at),
            }
        }
    }

    /// A line break that was decoded as itself or, folded, as a space together with the next line's indentation.
    fn fold(&mut self, decoded: char) -> usize {
        let at = self.pass(if self.rest.starts_with("\r\n") { 2 } else { 1 });
        if decoded != '\n' {
            self.skip(self.rest.len() - self.rest.trim_start_matches(is_white).len());
        }
        at
    }

    fn pass(&mut self, length: usize) -> usize {
        let at = self.at;
        self.skip(length);
        at
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or("");
        self.at += length;
    }

    fn piece(&self) -> Option<Piece> {
        let ch = self.rest.chars().next()?;
        Some(match (self.style, ch) {
            (Style::Double, '\\') => escape(&self.rest[1..])?,
            (Style::Single, '\'') => Piece::Char('\'', 2),
            _ => Piece::Char(ch, ch.len_utf8()),
        })
    }
}

/// What an escape stands for, given what follows its backslash.
fn escape(rest: &str) -> Option<Piece> {
    let ch = rest.chars().next()?;
    let stands_for = match ch {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        ' ' | '"' | '/' | '\\' => ch,
        'x' => return hex(rest, 2),
        'u' => return hex(rest, 4),
        'U' => return hex(rest, 8),
        '\n' | '\r' => {
            let next = rest.strip_prefix("\r\n").or(rest.get(1..))?;
            return Some(Piece::Nothing(1 + rest.len() - next.trim_start_matches([' ', '\t']).len()));
        }
        _ => return None,
    };
    Some(Piece::Char(stands_for, 1 + ch.len_utf8()))
}

/// `x41`, `u0041`, `U00000041`, or two `u` escapes that make a surrogate pair.
fn hex(rest: &str, digits: usize) -> Option<Piece> {
    let code = u32::from_str_radix(rest.get(1..=digits)?, 16).ok()?;
    if let Some(ch) = char::from_u32(code) {
        return Some(Piece::Char(ch, 2 + digits));
    }
    let low = u32::from_str_radix(rest.get(1 + digits..)?.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    let ch = char::from_u32(0x1_0000 + (code.checked_sub(0xd800)? << 10) + low.checked_sub(0xdc00)?)?;
    Some(Piece::Char(ch, 12))
}

/// What YAML may add, drop or replace between other characters.
fn is_white(ch: char) -> bool {
    matches!(ch, ' ' | '\t' | '\n' | '\r')
}
