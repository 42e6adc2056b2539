//! The output of an observer.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An output that remembers its first failure and writes nothing after it: a full disk does not end the run. Clones share it.
#[derive(Clone)]
pub struct ObserverOutput(Arc<Mutex<Output>>);

struct Output {
    to: Box<dyn Write + Send>,
    failed: Option<io::Error>,
}

impl ObserverOutput {
    /// Writes to `to`, whole lines at a time.
    pub fn new(to: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(Output { to, failed: None })))
    }

    fn lock(&self) -> MutexGuard<'_, Output> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Flushes. Fails with the first failure there was.
    pub(super) fn end(&self) -> io::Result<()> {
        let mut output = self.lock();
        output.failed.take().map_or_else(|| output.to.flush(), Err)
    }
}

/// Never fails.
impl Write for ObserverOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut output = self.lock();
        if output.failed.is_none() {
            output.failed = output.to.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut output = self.lock();
        if output.failed.is_none() {
            output.failed = output.to.flush().err();
        }
        Ok(())
    }
}

/// A text on one line, without control characters.
pub(super) fn flat(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Full(Arc<Mutex<usize>>);
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            *self.0.lock().expect("no panic") += 1;
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_failure_is_reported_at_the_end() {
        let tries = Arc::new(Mutex::new(0));
        let mut out = ObserverOutput::new(Box::new(Full(Arc::clone(&tries))));
        let wrote = [out.write_all(b"a").is_ok(), out.clone().write_all(b"b").is_ok(), out.flush().is_ok()];
        assert_eq!((wrote, *tries.lock().expect("no panic")), ([true; 3], 1));
        assert_eq!(out.end().map_err(|error| error.to_string()), Err("full".to_owned()));
    }
}
