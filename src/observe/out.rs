//! Where an observer writes.

use std::io::{self, Write};

/// A place to write to, which remembers the first failure and writes nothing after it: a run does not end because somebody
/// who looks on has no room.
pub struct ObserverOutput<'o> {
    to: Box<dyn Write + Send + 'o>,
    failed: Option<io::Error>,
}

impl<'o> ObserverOutput<'o> {
    /// Writes there; whole lines at once.
    pub fn new(to: Box<dyn Write + Send + 'o>) -> Self {
        Self { to, failed: None }
    }

    /// Writes a line.
    pub(super) fn line(&mut self, text: &str) {
        let mut line = String::with_capacity(text.len() + 1);
        line.push_str(text);
        line.push('\n');
        self.write(&line);
    }

    /// Writes a text as it is.
    pub(super) fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(text.as_bytes()).err();
        }
    }

    /// Writes what is left. Fails with the first failure there was.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.to.flush(), Err)
    }
}

/// A text on one line, without what a terminal would obey.
pub(super) fn flat(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
