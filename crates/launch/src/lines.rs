//! Reads an input line by line, each line of bounded length.

use asterisk_diag::{Code, Diagnostic, Diagnostics};
use std::io::{BufRead, Read as _};

/// The maximum length of a line, in bytes.
const MAX_LINE: u64 = 64 << 20;

/// A line without its line break.
pub(super) struct InputLine<'b> {
    /// The number of the line, from 1.
    pub(super) number: usize,
    pub(super) text: &'b str,
    /// Whether it ends with a line break: the last line of a truncated input has none.
    pub(super) is_whole: bool,
}

pub(super) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    number: usize,
}

impl<R: BufRead> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// Reads the next line. Invalid UTF-8 is an error without a message: the input has to be decoded first.
    pub(super) fn next(&mut self) -> Result<Option<InputLine<'_>>, Diagnostics> {
        self.buffer.clear();
        let read = self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.buffer).map_err(|_| Diagnostics::new())?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 == MAX_LINE {
            let message = format!("line {} has more than {} MiB", self.number, MAX_LINE >> 20);
            return Err(Diagnostic::error(Code::IngestTooLarge, message).help("pass the events without attachments").into());
        }
        let text = str::from_utf8(&self.buffer).map_err(|_| Diagnostics::new())?;
        let is_whole = text.ends_with('\n');
        Ok(Some(InputLine { number: self.number, text: text.trim_end_matches(['\n', '\r']), is_whole }))
    }
}

/// Appends to a text of at most `most` bytes; of a longer one the beginning and the end are kept.
pub(super) fn push_bounded(text: &mut String, line: &str, most: usize) {
    text.push_str(line);
    if text.len() > most {
        *text = super::cut::cut(std::mem::take(text), most / 2).0;
    }
}
