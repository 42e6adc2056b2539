//! Messages on a stream: a `Content-Length` header, an empty line, and JSON.

use serde_json::Value;
use std::io::{self, BufRead, Read as _, Write};

/// Maximum length of a message in bytes.
const LONGEST: u64 = 16 << 20;
/// Maximum length of a line of a header in bytes.
const LONGEST_LINE: u64 = 4096;

/// The result of reading a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// The JSON of a message.
    Message(Value),
    /// Input that is not a message, with the reason.
    Malformed(String),
    /// The end of the stream.
    End,
}

/// Reads the next message. After a malformed one, the next call goes on behind it.
pub(crate) fn read(from: &mut dyn BufRead) -> io::Result<Incoming> {
    let mut length = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        if from.take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Incoming::End);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            if is_first {
                continue;
            }
            break;
        }
        is_first = false;
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length else { return Ok(Incoming::Malformed("a message without `Content-Length`".to_owned())) };
    if length > LONGEST {
        let skipped = io::copy(&mut from.take(length), &mut io::sink())?;
        return Ok(Incoming::Malformed(format!("a message of {skipped} bytes, more than {LONGEST}")));
    }
    let mut body = Vec::new();
    if from.take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(Incoming::End);
    }
    Ok(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(format!("a message is not valid JSON: {error}")),
    })
}

/// Writes a message.
pub(crate) fn write(to: &mut dyn Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn all(mut bytes: &[u8]) -> Vec<Incoming> {
        let mut found = Vec::new();
        loop {
            match read(&mut bytes).unwrap() {
                Incoming::End => return found,
                other => found.push(other),
            }
        }
    }

    #[test]
    fn messages_are_read_as_written() {
        let mut bytes = Vec::new();
        for message in [json!({ "seq": 1 }), json!("é"), json!(null)] {
            write(&mut bytes, &message).unwrap();
        }
        let messages = all(&bytes);
        assert_eq!(messages, [json!({ "seq": 1 }), json!("é"), json!(null)].map(Incoming::Message));
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let bytes = b"Content-Type: x\r\n\r\nContent-Length: 3\r\n\r\n{{{content-length: 2\r\nX: y\r\n\r\n{}";
        let found = all(bytes);
        assert!(
            matches!(&found[..2], [Incoming::Malformed(one), Incoming::Malformed(two)]
            if one.contains("without `Content-Length`") && two.contains("not valid JSON")),
            "{found:?}"
        );
        assert_eq!(found[2], Incoming::Message(json!({})));
        assert_eq!(all(b"Content-Length: 99\r\n\r\n{}"), []);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(bytes: Vec<u8>) {
            all(&bytes);
        }
    }
}
