//! The bytes of a large input as they pass: addressed, and refused if they are not plain UTF-8 text.

use crate::model::{Hash, Hasher};
use std::io::{self, Read};

/// A reader that takes the address of what passes, without the byte order mark before it. What has NUL bytes in it is no
/// text, or no UTF-8.
pub(super) struct Stream<R> {
    inner: R,
    hasher: Hasher,
    /// Bytes that were read to look for a byte order mark and are still to be given out.
    head: Vec<u8>,
    begun: bool,
}

impl<R: Read> Stream<R> {
    /// Nothing read yet.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, hasher: Hasher::default(), head: Vec::new(), begun: false }
    }

    /// The address of all bytes that passed.
    pub(super) fn hash(&self) -> Hash {
        self.hasher.finish()
    }

    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        self.inner.by_ref().take(3).read_to_end(&mut self.head)?;
        if self.head == b"\xef\xbb\xbf" {
            self.head.clear();
        }
        Ok(())
    }
}

impl<R: Read> Read for Stream<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.begun {
            self.begin()?;
        }
        let count = if self.head.is_empty() {
            self.inner.read(into)?
        } else {
            let count = self.head.len().min(into.len());
            into[..count].copy_from_slice(&self.head[..count]);
            self.head.drain(..count);
            count
        };
        let bytes = &into[..count];
        if bytes.contains(&0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no text"));
        }
        self.hasher.update(bytes);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_passed_over_and_the_rest_addressed() {
        for (bytes, text) in [(&b"\xef\xbb\xbf{}"[..], "{}"), (b"{}", "{}"), (b"", ""), (b"\xef", "\u{fffd}")] {
            let mut stream = Stream::new(bytes);
            let mut all = Vec::new();
            stream.read_to_end(&mut all).expect("read");
            assert_eq!(String::from_utf8_lossy(&all), text);
            assert_eq!(stream.hash(), Hash::of(&all));
        }
        assert!(Stream::new(&b"a\0b"[..]).read_to_end(&mut Vec::new()).is_err());
    }
}
