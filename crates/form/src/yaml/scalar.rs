//! Maps each character of a decoded YAML string to its position in the file.
//!
//! The decoded and the written text are traversed together, character by character. In quoted and plain scalars every step is
//! known: escapes, doubled quotes and folded lines. In block scalars only white space is dropped or replaced, so visible
//! characters are found in order without repeating the rules of indentation, folding and chomping. If the two texts cannot be
//! aligned, every character maps to the whole scalar.

use super::tree::{QuoteStyle, Yaml, YamlKind, YamlText};
use asterisk_diag::{MappedText, Source, Span};

impl Yaml {
    /// The string with the source position of each character; `None` if the value is not a string.
    pub fn mapped(&self, source: &Source) -> Option<MappedText> {
        match &self.kind {
            YamlKind::Text(text) => Some(mapped(source, self.span, text)),
            _ => None,
        }
    }
}

/// The string of the scalar at `span`, with the source position of each character.
fn mapped(source: &Source, span: Span, text: &YamlText) -> MappedText {
    match offsets(source.slice(span), text) {
        Some(offsets) => {
            let offsets = offsets.into_iter().map(|offset| offset + span.start).collect();
            MappedText::new(text.value.as_str(), offsets, source.clone(), span)
        }
        None => MappedText::opaque(text.value.as_str(), source.clone(), span),
    }
}

/// For each byte of the decoded text, the offset of its character in the written text.
fn offsets(written: &str, text: &YamlText) -> Option<Vec<usize>> {
    let mut cursor = match text.style {
        QuoteStyle::Plain | QuoteStyle::Block => Cursor { rest: written, at: 0, before: 0, escaped: false, style: text.style },
        QuoteStyle::Single => {
            Cursor { rest: written.strip_prefix('\'')?.strip_suffix('\'')?, at: 1, before: 1, escaped: false, style: text.style }
        }
        QuoteStyle::Double => {
            Cursor { rest: written.strip_prefix('"')?.strip_suffix('"')?, at: 1, before: 1, escaped: false, style: text.style }
        }
        QuoteStyle::Alias => return None,
    };
    let mut offsets = Vec::with_capacity(text.value.len());
    for decoded in text.value.chars() {
        let at = cursor.find(decoded)?;
        offsets.extend(std::iter::repeat_n(at, decoded.len_utf8()));
    }
    Some(offsets)
}

/// A position in the written text.
struct Cursor<'a> {
    /// The text after it.
    rest: &'a str,
    /// Its offset.
    at: usize,
    /// The previous offset.
    before: usize,
    /// Whether an escaped line break came last: every empty line after it is significant.
    escaped: bool,
    style: QuoteStyle,
}

/// A unit of a quoted or plain scalar.
enum ScalarPiece {
    /// A character, and the length in bytes of its written form (an escape, a doubled quote).
    Char(char, usize),
    /// An escaped line break: no character; its length in bytes, including the indentation of the next line.
    Nothing(usize),
}

/// White space that contains line breaks.
struct Break {
    /// The number of line breaks.
    lines: usize,
    /// The start and end of the first one.
    first: (usize, usize),
    /// The total length in bytes.
    length: usize,
}

impl Cursor<'_> {
    /// Finds the next decoded character and moves past it. Returns its offset.
    fn find(&mut self, decoded: char) -> Option<usize> {
        if self.style == QuoteStyle::Block { self.find_in_block(decoded) } else { self.find_in_flow(decoded) }
    }

    fn find_in_flow(&mut self, decoded: char) -> Option<usize> {
        loop {
            if let Some(Break { lines, first, length }) = self.line_break() {
                let skipped = match (lines + usize::from(self.escaped), decoded) {
                    (1, ' ') | (2, '\n') => {
                        self.escaped = false;
                        length
                    }
                    (3.., '\n') => first.1,
                    _ => return None,
                };
                let at = self.at + first.0;
                self.skip(skipped);
                return Some(at);
            }
            match self.piece()? {
                ScalarPiece::Nothing(length) => {
                    self.escaped = true;
                    self.skip(length);
                }
                ScalarPiece::Char(ch, length) => {
                    self.escaped = false;
                    return (ch == decoded).then(|| self.pass(length));
                }
            }
        }
    }

    fn find_in_block(&mut self, decoded: char) -> Option<usize> {
        loop {
            match self.rest.chars().next() {
                // Trailing line breaks of the string may lie outside its span.
                None => return is_white(decoded).then_some(self.before),
                Some('\r' | '\n') if decoded == '\n' => return Some(self.pass(line_end(self.rest))),
                Some(ch) if ch == decoded => return Some(self.pass(ch.len_utf8())),
                Some('\r' | '\n') if is_white(decoded) => return Some(self.at),
                Some(ch) if is_white(ch) && (decoded == '\n' || !is_white(decoded)) => self.skip(1),
                Some(_) => return is_white(decoded).then_some(self.at),
            }
        }
    }

    /// The white space at the cursor, if it contains line breaks.
    fn line_break(&self) -> Option<Break> {
        let length = self.rest.len() - self.rest.trim_start_matches(is_white).len();
        let white = &self.rest[..length];
        let start = white.find(['\n', '\r'])?;
        let lines = white.replace("\r\n", "\n").matches(['\n', '\r']).count();
        Some(Break { lines, first: (start, start + line_end(&white[start..])), length })
    }

    fn pass(&mut self, length: usize) -> usize {
        let at = self.at;
        self.skip(length);
        at
    }

    fn skip(&mut self, length: usize) {
        self.before = self.at;
        self.rest = self.rest.get(length..).unwrap_or("");
        self.at += length;
    }

    fn piece(&self) -> Option<ScalarPiece> {
        let ch = self.rest.chars().next()?;
        Some(match (self.style, ch) {
            (QuoteStyle::Double, '\\') => escape(&self.rest[1..])?,
            (QuoteStyle::Single, '\'') => ScalarPiece::Char('\'', 2),
            _ => ScalarPiece::Char(ch, ch.len_utf8()),
        })
    }
}

/// Decodes an escape, given the text after its backslash.
fn escape(rest: &str) -> Option<ScalarPiece> {
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
            return Some(ScalarPiece::Nothing(1 + rest.len() - next.trim_start_matches([' ', '\t']).len()));
        }
        _ => return None,
    };
    Some(ScalarPiece::Char(stands_for, 1 + ch.len_utf8()))
}

/// Decodes `x41`, `u0041`, `U00000041`, or two `u` escapes that form a surrogate pair.
fn hex(rest: &str, digits: usize) -> Option<ScalarPiece> {
    let code = u32::from_str_radix(rest.get(1..=digits)?, 16).ok()?;
    if let Some(ch) = char::from_u32(code) {
        return Some(ScalarPiece::Char(ch, 2 + digits));
    }
    let low = u32::from_str_radix(rest.get(1 + digits..)?.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    let ch = char::from_u32(0x1_0000 + (code.checked_sub(0xd800)? << 10) + low.checked_sub(0xdc00)?)?;
    Some(ScalarPiece::Char(ch, 12))
}

/// The length of the line break at the start of a text.
fn line_end(text: &str) -> usize {
    if text.starts_with("\r\n") { 2 } else { 1 }
}

/// Characters that YAML may add, drop or replace between others.
fn is_white(ch: char) -> bool {
    matches!(ch, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::yaml;
    use proptest::prelude::*;

    /// The mapped value of the key `c`.
    fn read(text: &str) -> (Source, MappedText) {
        let source = Source::new("p.yaml", text);
        let tree = yaml::parse(&source).unwrap_or_else(|found| panic!("{text:?}: {found}"));
        let mapped = tree.get("c").and_then(|value| value.mapped(&source)).unwrap_or_else(|| panic!("no text in {text:?}"));
        (source, mapped)
    }

    /// The written form of a word of the decoded text.
    fn written(text: &str, word: &str) -> (usize, String) {
        let (source, mapped) = read(text);
        let at = mapped.text().find(word).unwrap_or_else(|| panic!("no {word:?} in {:?}", mapped.text()));
        let span = mapped.locate(Span::new(at, at + word.len()));
        (span.start, source.slice(span).to_owned())
    }

    #[test]
    fn a_word_is_found_in_every_style() {
        for text in [
            "c: artifact.confidence <> confidense",
            "c: artifact.confidence\n  >= confidense\n",
            "c: \"artifact.label == \\\"é\\\" && confidense\"",
            "c: \"\\u00e9\\ud83d\\ude00\\x41 &&\\\n    confidense\"",
            "c: \"a\n\n   b confidense\"",
            "{ c: 'label == ''x'' && confidense' }",
            "c: |\n  artifact.confidence >= 0.9 &&\n\n    confidense < 1\n",
            "c: |2-\n    ind\n   confidense\n",
            "c: >-\n  artifact.confidence\n  && confidense == \"é\"\n",
            "c: >+ # é\n\n  é\n\n\n  confidense\n\nd: 1",
            "c: |\r\n  é\r\n  confidense\r\n",
            "\u{feff}c: é confidense",
        ] {
            assert_eq!(written(text, "confidense"), (text.find("confidense").unwrap(), "confidense".into()), "{text:?}");
        }
    }

    #[test]
    fn an_escaped_character_maps_to_its_escape() {
        assert_eq!(written("c: \"\\u00e9x\"", "é").0, 4);
        assert_eq!(written("c: 'it''s'", "'").0, 6);
        assert_eq!(written("c: \"a\\n\\tb\"", "\t").0, 7);
    }

    #[test]
    fn an_alias_maps_to_one_span() {
        assert_eq!(written("a: &x one two\nc: *x\n", "two"), (17, "*x".into()));
    }

    /// Checks that positions increase and that each visible character maps to itself or to an escape.
    fn check(text: &str) -> Result<(), TestCaseError> {
        let (source, mapped) = read(text);
        let mut last = 0;
        for (at, ch) in mapped.text().char_indices() {
            let span = mapped.locate(Span::new(at, at + ch.len_utf8()));
            prop_assert!(is_white(ch) || span.len() <= ch.len_utf8(), "{text:?} is not mapped");
            prop_assert!(span.start >= last, "{text:?}: {ch:?} goes back");
            last = span.start;
            let there = source.slice(span);
            prop_assert!(is_white(ch) || there == ch.to_string() || there == "\\", "{text:?}: {ch:?} at {there:?}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn plain(words in prop::collection::vec("[a-zé.&=<>]{1,5}", 1..6), breaks in prop::collection::vec("( |  |\n  |\n\n   )", 6)) {
            let text: String = words.iter().zip(&breaks).flat_map(|(word, gap)| [word.as_str(), gap.as_str()]).collect();
            check(&format!("c: x{}\nd: 1\n", text.trim_end()))?;
        }

        #[test]
        fn single(text in "([a-zé\"\\\\#:]| |''|\n {2,4}){1,30}") {
            check(&format!("c: 'x{text}x'\n"))?;
        }

        #[test]
        fn double(text in "([a-zé'#:]| |\\\\\"|\\\\\\\\|\\\\n|\\\\t|\\\\x41|\\\\u00e9|\\\\U0001f600|\\\\ud83d\\\\ude00|\\\\\n  |\n {2,4}){1,30}") {
            check(&format!("c: \"x{text}x\"\n"))?;
        }

        #[test]
        fn block(
            header in "[|>][-+]?",
            lines in prop::collection::vec("( {0,3}[a-zé'\"#:&]{1,6}( [a-z]{1,3})?)?", 0..8),
            ending in "(\n|\r\n)",
        ) {
            let mut text = format!("c: {header}{ending}  x{ending}");
            for line in &lines {
                text.push_str(&["  ", line, &ending].concat()[if line.is_empty() { 2 } else { 0 }..]);
            }
            check(&format!("{text}d: 1\n"))?;
        }
    }
}
