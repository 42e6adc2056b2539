//! Transport of messages line by line over pipes. Invalid messages are answered with an error, as over HTTP, and the session continues.

use regex::Regex;
use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::io;
use std::sync::LazyLock;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Capacity of the queue of lines to be written.
const CAPACITY: usize = 64;
/// Number of bytes kept of the end of a message that is too long, to find its id.
const TAIL: usize = 512;
/// Error codes of JSON-RPC.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

/// A line to be written, and a channel for the result.
type OutgoingLine = (Vec<u8>, Option<oneshot::Sender<io::Result<()>>>);

/// Both directions of a session.
pub(super) struct MessageLines<R> {
    from: BufReader<R>,
    most: usize,
    /// The part of the current line read so far; of a line that is too long, its end.
    line: Vec<u8>,
    /// The id of a line that is too long, if its beginning contains it.
    skipping: Option<Value>,
    /// An error that is still to be sent. Receiving may be cancelled at any time, so all state is kept here.
    due: Option<Vec<u8>>,
    to: Option<mpsc::Sender<OutgoingLine>>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Unpin + Send> MessageLines<R> {
    /// A session whose messages have at most `most` bytes.
    pub(super) fn new(from: R, mut to: impl AsyncWrite + Unpin + Send + 'static, most: usize) -> Self {
        let (send, mut lines) = mpsc::channel::<OutgoingLine>(CAPACITY);
        let writer = tokio::spawn(async move {
            while let Some((line, replies)) = lines.recv().await {
                let written = match to.write_all(&line).await {
                    Ok(()) => to.flush().await,
                    failed => failed,
                };
                if let Some(replies) = replies {
                    drop(replies.send(written));
                }
            }
        });
        Self {
            from: BufReader::new(from),
            most,
            line: Vec::new(),
            skipping: None,
            due: None,
            to: Some(send),
            writer: Some(writer),
        }
    }

    fn refuse(&mut self, id: &Value, code: i64, why: &str) {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } });
        self.due = Some(format!("{error}\n").into_bytes());
    }

    /// Consumes input up to the end of a line. Returns the line, if it is complete and not too long.
    fn take(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        let whole = piece.last() == Some(&b'\n');
        self.line.extend_from_slice(piece);
        if self.skipping.is_none() && self.line.len() > self.most {
            self.skipping = Some(id_in(&FIRST, &self.line[..self.line.len().min(TAIL)]));
        }
        if self.skipping.is_some() {
            let more = self.line.len().saturating_sub(TAIL);
            self.line.drain(..more);
        }
        if !whole {
            return None;
        }
        let line = std::mem::take(&mut self.line);
        match self.skipping.take() {
            None => Some(line),
            Some(id) => {
                let id = if id.is_null() { id_in(&LAST, &line) } else { id };
                self.refuse(&id, INVALID_REQUEST, &format!("the message is longer than {} bytes", self.most));
                None
            }
        }
    }

    /// Parses a line as a message. If it is not valid, an error may be due.
    fn read(&mut self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        let error = match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        match serde_json::from_slice::<Value>(line) {
            Err(why) => self.refuse(&Value::Null, PARSE_ERROR, &format!("the message is not valid JSON: {why}")),
            // Responses and notifications are not answered.
            Ok(value) if value.get("method").is_none() && (value.get("result").is_some() || value.get("error").is_some()) => {}
            Ok(value) if value.get("method").is_some_and(Value::is_string) && value.get("id").is_none() => {}
            Ok(value) => {
                let id = value.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned().unwrap_or_default();
                let why = if value.is_array() { "batches are not supported".to_owned() } else { error.to_string() };
                self.refuse(&id, INVALID_REQUEST, &format!("this is not a message of the protocol: {why}"));
            }
        }
        None
    }
}

/// The id of a request that is preceded or followed by string members only.
static FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\s*\{\s*(?:"[a-z]+"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*([0-9]{1,18}|"[^"\\]{1,100}")\s*,"#).ok()
});
static LAST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"[,{]\s*"id"\s*:\s*([0-9]{1,18}|"[^"\\]{1,100}")\s*(?:,\s*"[a-z]+"\s*:\s*"[^"\\]*"\s*)*\}\s*$"#).ok()
});

fn id_in(pattern: &LazyLock<Option<Regex>>, text: &[u8]) -> Value {
    let text = String::from_utf8_lossy(text);
    let found = pattern.as_ref().and_then(|pattern| pattern.captures(&text)?.get(1));
    found.and_then(|id| serde_json::from_str(id.as_str()).ok()).unwrap_or_default()
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for MessageLines<R> {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let to = self.to.clone();
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let (replies, written) = oneshot::channel();
            let closed = || io::Error::from(io::ErrorKind::NotConnected);
            to.ok_or_else(closed)?.send((line, Some(replies))).await.map_err(|_| closed())?;
            written.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.due.is_some() {
                let place = self.to.as_ref()?.reserve().await.ok()?;
                place.send((self.due.take()?, None));
            }
            let input = self.from.fill_buf().await.ok()?;
            let over = input.is_empty();
            let piece = match input.iter().position(|byte| *byte == b'\n') {
                Some(end) => input[..=end].to_vec(),
                // The last line may lack its line break.
                None if over => b"\n".to_vec(),
                None => input.to_vec(),
            };
            if !over {
                self.from.consume(piece.len());
            } else if self.line.is_empty() && self.skipping.is_none() {
                return None;
            }
            if let Some(line) = self.take(&piece)
                && let Some(message) = self.read(&line)
            {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.to = None;
        if let Some(writer) = self.writer.take() {
            drop(writer.await);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The errors sent for some input, and the number of valid messages in it.
    fn replies(input: &str) -> (Vec<Value>, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut far, near) = tokio::io::duplex(1 << 20);
            let mut lines = MessageLines::new(input.as_bytes(), near, 200);
            let mut messages = 0;
            while lines.receive().await.is_some() {
                messages += 1;
            }
            lines.close().await.unwrap();
            drop(lines);
            let mut out = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut far, &mut out).await.unwrap();
            (out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), messages)
        })
    }

    #[test]
    fn an_invalid_message_is_answered_with_an_error() {
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        let long = "x".repeat(5000);
        for (input, code, id) in [
            ("{\"jsonrpc\"".to_owned(), PARSE_ERROR, json!(null)),
            ("\u{0}\u{1}".to_owned(), PARSE_ERROR, json!(null)),
            ("[".repeat(150), PARSE_ERROR, json!(null)),
            ("[]".to_owned(), INVALID_REQUEST, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":7}".to_owned(), INVALID_REQUEST, json!(7)),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":5}".to_owned(), INVALID_REQUEST, json!("a")),
            (
                format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"x\",\"params\":{{\"t\":\"{long}\"}}}}"),
                INVALID_REQUEST,
                json!(8),
            ),
            (
                format!("{{\"method\":\"x\",\"params\":{{\"id\":9,\"t\":\"{long}\"}},\"jsonrpc\":\"2.0\",\"id\":\"b\"}}"),
                INVALID_REQUEST,
                json!("b"),
            ),
            (format!("{{\"params\":{{\"t\":\"{long}\",\"id\":9}},\"method\":\"x\"}}"), INVALID_REQUEST, json!(null)),
            (long.clone(), INVALID_REQUEST, json!(null)),
        ] {
            let (replies, messages) = replies(&format!("{ping}\n{input}\r\n\n{ping}"));
            assert_eq!((messages, replies.len()), (2, 1), "{input}: {replies:?}");
            assert_eq!((&replies[0]["error"]["code"], &replies[0]["id"]), (&json!(code), &id), "{input}");
        }
        // Messages that want no answer get none.
        for input in ["", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}"] {
            assert_eq!(replies(&format!("{input}\n{ping}\n")).0, Vec::<Value>::new(), "{input}");
        }
    }
}
