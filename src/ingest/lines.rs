//! The lines of an input that is read line by line, each of bounded length.

use crate::diag::{Diagnostic, Diagnostics};
use std::io::{BufRead, Read as _};

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 64 << 20;

/// A line without its end.
pub(super) struct InputLine<'b> {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) text: &'b str,
    /// Whether its end is there: the last line of an input that was cut off has none.
    pub(super) is_whole: bool,
}

/// Reads lines.
pub(super) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    number: usize,
}

impl<R: BufRead> LineReader<R> {
    /// Nothing read yet.
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// The next line. What is no UTF-8 is an error without a message: the input has to be decoded first.
    pub(super) fn next(&mut self) -> Result<Option<InputLine<'_>>, Diagnostics> {
        self.buffer.clear();
        let read = self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.buffer).map_err(|_| Diagnostics::new())?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 == MAX_LINE {
            let message = format!("line {} has more than {} MiB", self.number, MAX_LINE >> 20);
            return Err(Diagnostic::error("ingest/too-large", message).help("give the events without attachments").into());
        }
        let text = str::from_utf8(&self.buffer).map_err(|_| Diagnostics::new())?;
        let is_whole = text.ends_with('\n');
        Ok(Some(InputLine { number: self.number, text: text.trim_end_matches(['\n', '\r']), is_whole }))
    }
}

/// Adds a line to a text of which no more than `most` bytes are held: of more, the beginning and the end.
pub(super) fn push_bounded(text: &mut String, line: &str, most: usize) {
    text.push_str(line);
    if text.len() > most {
        *text = super::cut::cut(std::mem::take(text), most / 2).0;
    }
}
