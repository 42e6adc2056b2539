//! Hashes a large input while it is read, and rejects it if it is not plain UTF-8 text.

use asterisk_base::model::{Hash, Hasher};
use std::io::{self, Read};

/// A reader that hashes its input, without a byte order mark at the start. NUL bytes are an error: binary data or another
/// encoding.
pub(super) struct Stream<R> {
    inner: R,
    hasher: Hasher,
    /// Bytes read to look for a byte order mark, not yet returned.
    head: Vec<u8>,
    begun: bool,
}

impl<R: Read> Stream<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, hasher: Hasher::default(), head: Vec::new(), begun: false }
    }

    /// The content address of all bytes read.
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
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not text"));
        }
        self.hasher.update(bytes);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_skipped_and_the_rest_is_hashed() {
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
