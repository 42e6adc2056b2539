//! The value behind a name: where it begins and ends in what languages, files and logs make of a name and its value.

use super::look::MAX_VALUE;
use super::{floor, floor_back, names};
use std::ops::Range;

/// The most bytes of what stands between a name and its value.
const MAX_NAME: usize = 64;
/// The bytes of a sentence that are looked at.
const NEAR: usize = 80;

/// A value behind a name.
pub(super) struct SecretValue {
    pub(super) value: Range<usize>,
    pub(super) quoted: bool,
    /// A space stands before it, as in a sentence.
    pub(super) spaced: bool,
}

impl SecretValue {
    /// Reads what stands between a name that ends at `at` and its value, and the value. `bare`: a space alone is enough.
    pub(super) fn after(text: &str, at: usize, bare: bool) -> Option<Self> {
        let mut rest = Rest { text, at };
        let closed = rest.quote().is_some();
        rest.eat("]");
        let mut spaced = rest.spaces();
        if closed && (rest.word("value") || rest.word("content")) {
            rest.spaces();
        }
        if rest.text[rest.at..].starts_with("::") {
            return None;
        }
        let separators = [":=", "=>", "===", "==", "!=", "->", "%3D", "%3d", "%3A", "%3a", "\\u003d", "=", ":"];
        let found = separators.into_iter().find(|separator| rest.eat(separator));
        match found {
            Some(_) => spaced = rest.spaces(),
            None if rest.eat(">") => {}
            None if rest.eat("(") && rest.peek_quote() => {}
            None if closed && rest.eat(",") && {
                spaced = rest.spaces();
                rest.peek_quote()
            } => {}
            None if !bare && rest.peek_quote() && spaced => {}
            None if bare && spaced => {}
            None if bare && rest.eat("\n") && {
                rest.spaces();
                rest.eat("- ")
            } => {}
            None => return None,
        }
        // A comparison is one with a text.
        if matches!(found, Some("==" | "===" | "!=")) && !rest.peek_quote() {
            return None;
        }
        // A block of YAML: the next line.
        if found == Some(":") && (rest.eat("|") || rest.eat(">")) {
            rest.eat("-");
            if !rest.eat("\n") {
                return None;
            }
            rest.spaces();
        }
        if found == Some(":") && rest.word("Bearer") || rest.word("bearer") {
            rest.spaces();
        }
        rest.wrapper();
        let started = rest.at;
        match rest.quote() {
            Some(quote) => {
                let end = rest.closing(&quote);
                (rest.at < end).then_some(Self { value: rest.at..end, quoted: true, spaced })
            }
            None => {
                let encoded = found.is_some_and(|found| found.starts_with('%'));
                let end = bare_end(text, started, encoded);
                (started < end).then_some(Self { value: started..end, quoted: false, spaced })
            }
        }
    }
}

struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl Rest<'_> {
    fn eat(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn spaces(&mut self) -> bool {
        let count = self.text.as_bytes()[self.at..].iter().take(MAX_NAME).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.at += count;
        count > 0
    }

    /// `word =`, of the attribute that follows the one with the name.
    fn word(&mut self, word: &str) -> bool {
        let rest = &self.text[self.at..];
        let found = rest.get(..word.len()).is_some_and(|found| found == word) && rest[word.len()..].starts_with(['=', ' ', ':']);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn peek_quote(&self) -> bool {
        self.text[self.at..].starts_with(['"', '\'', '\\'])
    }

    /// Eats a quote of any kind, escaped or not, and returns it.
    fn quote(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let slashes = rest.bytes().take(8).take_while(|byte| *byte == b'\\').count();
        let marks = ["\"", "'", "`", "&quot;", "&#34;", "&#39;", "&apos;", "%22", "%27", "\u{201c}"];
        let mark = marks.into_iter().find(|mark| rest[slashes..].starts_with(mark))?;
        self.at += slashes + mark.len();
        Some(format!("{}{}", "\\".repeat(slashes), if mark == "\u{201c}" { "\u{201d}" } else { mark }))
    }

    /// The end of a quoted value: its closing quote, or that of the line.
    fn closing(&self, quote: &str) -> usize {
        let rest = &self.text[self.at..floor(self.text, self.at + MAX_VALUE)];
        let mut from = 0;
        while let Some(found) = rest[from..].find(quote) {
            let end = from + found;
            let escapes = rest[..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
            if escapes.is_multiple_of(2) || quote.starts_with(['\\', '&', '%']) {
                return self.at + end;
            }
            from = end + quote.len();
        }
        self.at + rest.find(['\n', '\r']).unwrap_or(rest.len())
    }

    /// What languages put around a value: `Some(`, `b"`, `[`.
    fn wrapper(&mut self) {
        let rest = &self.text[self.at..];
        let letters =
            rest.bytes().take(24).take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')).count();
        let inner = rest[letters..].trim_start_matches(['(', '[']);
        let opened = rest.len() - letters - inner.len();
        let is_quoted = inner.starts_with(['"', '\'']);
        if opened <= 2
            && ((opened > 0 && letters > 0 && is_quoted)
                || (opened == 0 && letters > 0 && letters <= 2 && is_quoted)
                || (letters == 0 && opened > 0))
        {
            self.at += letters + opened;
        }
    }
}

/// The end of a value without quotes.
fn bare_end(text: &str, start: usize, encoded: bool) -> usize {
    let rest = &text[start..floor(text, start + MAX_VALUE)];
    let mut end = rest.find(|ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '`')).unwrap_or(rest.len());
    // An escaped line break or quote, an entity.
    for stop in ["\\n", "\\r", "\\t", "\\\"", "&quot;", "&#34;", "&lt;", "</"] {
        end = rest[..end].find(stop).unwrap_or(end);
    }
    if encoded {
        for stop in ["%22", "%26", "%2C", "%2c", "%7D", "%7d", "&"] {
            end = rest[..end].find(stop).unwrap_or(end);
        }
    }
    // The next of a list of pairs.
    let bytes = rest.as_bytes();
    for (at, _) in rest[..end].match_indices([',', ';', '&', '|']) {
        let after = &bytes[at + 1..];
        let name = after
            .iter()
            .take(MAX_NAME)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' '))
            .count();
        if after.get(name).is_none_or(|next| matches!(next, b'=' | b':' | b'"' | b'\'' | b'\n'))
            || after.first().is_some_and(u8::is_ascii_whitespace)
        {
            end = at;
            break;
        }
    }
    let trimmed = rest[..end].trim_end_matches([',', ';', ')', ']', '}', '>', '.', ':', '\\', '|']);
    start + trimmed.len()
}

/// Whether a value without quotes is the next word of a sentence: `password: must be ...`.
pub(super) fn is_word_of_sentence(text: &str, value: &Range<usize>) -> bool {
    let rest = &text[value.start..floor(text, value.end + NEAR)];
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let word = &text[value.clone()];
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'\'' | b',' | b'.' | b'-'));
    is_plain && (names::is_prose(line) || names::is_prose(word))
}

/// Whether a value is a type or a constant of a declaration: `password: CString,`, `TOKEN: Kind = ...`.
pub(super) fn is_type(text: &str, value: &Range<usize>) -> bool {
    let is_name = text[value.clone()].bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let next = text[value.end..].trim_start_matches(' ');
    is_name && (next.starts_with([',', ';', ')', '=']) || text[value.clone()].contains('_'))
}

/// Whether a value is an expression: a call, a member, a type.
pub(super) fn is_code(value: &str) -> bool {
    if value.contains("::") || value.contains("![") || value.starts_with(['*', '&']) && value.len() < 16 || value.contains('<') {
        return true;
    }
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
    };
    value.find('(').is_some_and(|at| is_name(&value[..at]))
        || (value.contains('.')
            && is_name(value)
            && value.split('.').all(|part| part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')))
}

/// Whether a space is enough between a name and its value: `login x password y` of a `.netrc`, `ENV NAME VALUE`.
pub(super) fn is_spaced(text: &str, start: usize, name: &str) -> bool {
    let before = &text[floor_back(text, start, 160)..start];
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    (name.eq_ignore_ascii_case("password") && before.contains("login ") && before.contains("machine "))
        || matches!(line.trim(), "ENV" | "setenv" | "ARG")
}
