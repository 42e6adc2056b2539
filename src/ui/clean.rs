//! Makes untrusted text safe to print: control characters, direction marks and other characters that a terminal interprets, or
//! does not show, are replaced by a visible character of one column.

use super::inert;
use asterisk_base::model::{CiSystem, is_invisible};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The replacement of a character that must not reach a terminal. Each is one column wide, so that carets below a line stay
/// aligned.
fn replacement(ch: char) -> Option<char> {
    match ch {
        '\n' | '\t' => None,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(ch)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{2028}' | '\u{2029}' => Some(char::REPLACEMENT_CHARACTER),
        _ => is_invisible(ch).then_some(char::REPLACEMENT_CHARACTER),
    }
}

/// Whether a text has nothing to replace; fast for ASCII.
fn is_clean(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) || text.chars().all(|ch| replacement(ch).is_none())
}

/// Replaces the characters that a terminal would interpret or hide. Line breaks and tabs are kept; `\r\n` becomes `\n`.
pub fn plain(text: &str) -> String {
    cleaned(text).into_owned()
}

/// As [`plain`], without a copy if nothing changes.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    if is_clean(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        if ch != '\r' || chars.peek() != Some(&'\n') {
            out.push(replacement(ch).unwrap_or(ch));
        }
    }
    Cow::Owned(out)
}

/// Escapes the same characters in a JSON text. JSON permits them only inside strings, so the value stays the same.
fn escaped(json: &str) -> Cow<'_, str> {
    if is_clean(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for ch in json.chars() {
        match replacement(ch) {
            None => out.push(ch),
            Some(_) => {
                for unit in ch.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Text that [`super::Ui`] can print: plain text, which is cleaned, or styled text, whose parts were cleaned before.
pub trait Printed {
    /// The text as it may be written to a terminal.
    fn printed(&self) -> Cow<'_, str>;
}

impl Printed for str {
    fn printed(&self) -> Cow<'_, str> {
        cleaned(self)
    }
}

impl Printed for String {
    fn printed(&self) -> Cow<'_, str> {
        cleaned(self)
    }
}

impl Printed for Cow<'_, str> {
    fn printed(&self) -> Cow<'_, str> {
        cleaned(self)
    }
}

/// How a stream is cleaned: text or JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CleanForm {
    /// Characters are replaced.
    Text,
    /// Characters are escaped as in JSON.
    Json,
}

/// A writer that cleans its input.
pub(super) struct Cleaning<W: Write> {
    inner: W,
    form: CleanForm,
    /// The CI system that must not find commands in it, if there is one.
    job: Option<CiSystem>,
    /// The start of an incomplete character, or a `\r` that may be followed by `\n`; in a CI job, of an incomplete line.
    rest: Vec<u8>,
}

impl<W: Write> Cleaning<W> {
    pub(super) fn new(inner: W, form: CleanForm, job: Option<CiSystem>) -> Self {
        Self { inner, form, job, rest: Vec::new() }
    }

    /// Writes the rest and flushes.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.emit(&String::from_utf8_lossy(&rest))?;
        self.inner.flush()
    }

    fn emit(&mut self, text: &str) -> io::Result<()> {
        let clean = match (self.form, self.job) {
            (CleanForm::Json, None) => escaped(text),
            (CleanForm::Json, Some(_)) => inert::json(escaped(text)),
            (CleanForm::Text, None) => cleaned(text),
            (CleanForm::Text, Some(system)) => inert::text(system, cleaned(text)),
        };
        self.inner.write_all(clean.as_bytes())
    }
}

impl<W: Write> Write for Cleaning<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.job.is_some() {
            let (lines, rest) = bytes.split_at(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
            self.rest.extend_from_slice(lines);
            if !lines.is_empty() {
                let whole = std::mem::take(&mut self.rest);
                self.emit(&String::from_utf8_lossy(&whole))?;
            }
            self.rest.extend_from_slice(rest);
            return Ok(bytes.len());
        }
        if self.rest.is_empty()
            && let Ok(text) = std::str::from_utf8(bytes)
            && is_clean(text)
        {
            return self.inner.write_all(bytes).map(|()| bytes.len());
        }
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&all) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ if all.last() == Some(&b'\r') => all.len() - 1,
            _ => all.len(),
        };
        self.rest = all.split_off(whole);
        self.emit(&String::from_utf8_lossy(&all))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(plain("a\u{1b}[2Jb\r\n\tc\rd\u{7f}\u{9b}\u{202e}\u{2028}\u{0}é"), "a␛[2Jb\n\tc␍d␡\u{fffd}\u{fffd}\u{fffd}␀é");
        assert!(matches!(cleaned("plain, grün\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_its_value() {
        let text = "a\u{1b}\u{7f}\u{85}\u{202e}\u{feff}\u{e0041}\r\n\té";
        let json = serde_json::to_string(text).unwrap();
        let safe = escaped(&json);
        assert!(safe.chars().all(|ch| replacement(ch).is_none()) && safe.contains("\\udb40\\udc41"), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    proptest! {
        #[test]
        fn a_stream_is_cleaned_like_a_text(parts in proptest::collection::vec("(\r|\n|\u{1b}|é|\u{202e}|\u{10348}|x|:|::|##|vso\\[)", 0..12), cut in 1usize..5) {
            let text = parts.concat();
            let stream = |job| {
                let mut out = Vec::new();
                let mut stream = Cleaning::new(&mut out, CleanForm::Text, job);
                for part in text.as_bytes().chunks(cut) {
                    stream.write_all(part).unwrap();
                }
                stream.finish().unwrap();
                String::from_utf8(out).unwrap()
            };
            prop_assert_eq!(stream(None), plain(&text));
            prop_assert_eq!(stream(Some(CiSystem::Github)), inert::text(CiSystem::Github, plain(&text).into()));
        }
    }
}
