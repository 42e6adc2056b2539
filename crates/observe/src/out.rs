//! The output of an observer.

use std::io::{self, Write};

/// An output that remembers its first failure and writes nothing after it: a full disk does not end the run.
pub struct ObserverOutput<'o> {
    to: Box<dyn Write + Send + 'o>,
    failed: Option<io::Error>,
}

impl<'o> ObserverOutput<'o> {
    /// Writes to `to`, whole lines at a time.
    pub fn new(to: Box<dyn Write + Send + 'o>) -> Self {
        Self { to, failed: None }
    }

    pub(super) fn line(&mut self, text: &str) {
        let mut line = String::with_capacity(text.len() + 1);
        line.push_str(text);
        line.push('\n');
        self.write(&line);
    }

    /// Writes a text unchanged.
    pub(super) fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(text.as_bytes()).err();
        }
    }

    /// Flushes. Fails with the first failure there was.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.to.flush(), Err)
    }
}

/// A text on one line, without control characters.
pub(super) fn flat(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
