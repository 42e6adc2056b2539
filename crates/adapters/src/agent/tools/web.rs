//! Transport to a server behind HTTP: the SDK's streamable HTTP over this program's HTTP client.
//!
//! Only the response to a posted message is read, as JSON or as an event stream; a call needs no server-initiated messages.

use super::server_output::SharedServerOutput;
use crate::net::shown;
use futures_core::stream::BoxStream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::Sse;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{HeaderName, HeaderValue};

/// Header with the session id.
const SESSION: &str = "Mcp-Session-Id";

type WebError = StreamableHttpError<ureq::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The message transport.
#[derive(Clone)]
pub(super) struct HttpTransport {
    client: ureq::Agent,
    most: usize,
    output: SharedServerOutput,
}

impl HttpTransport {
    pub(super) fn new(timeout: Duration, most: usize, output: &SharedServerOutput) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            // The token is sent to the configured address only.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("asterisk/", env!("CARGO_PKG_VERSION")));
        Self { client: config.build().new_agent(), most, output: output.clone() }
    }

    fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        (session, token): (Option<&str>, Option<&str>),
        headers: &Headers,
    ) -> Result<StreamableHttpPostResponse, WebError> {
        let mut call = self.client.post(uri).header("Content-Type", "application/json");
        call = call.header("Accept", "application/json, text/event-stream");
        call = headers.iter().fold(call, |call, (name, value)| call.header(name, value));
        if let Some(session) = session {
            call = call.header(SESSION, session);
        }
        if let Some(token) = token {
            call = call.header("Authorization", format!("Bearer {token}"));
        }
        let body = serde_json::to_string(message)?;
        let mut response = call.send(body).map_err(|error| {
            let bad = matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_));
            self.output.over(error.to_string(), bad);
            StreamableHttpError::Client(error)
        })?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (kind, own) = (header("Content-Type").unwrap_or_default(), header(SESSION));
        let awaited = matches!(message, ClientJsonRpcMessage::Request(_));
        if status.is_success() && !awaited {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status.as_u16() == 404 && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let mut reader = response.body_mut().with_config().limit(self.most as u64).reader();
        let found = if kind.starts_with("text/event-stream") && status.is_success() {
            self.event(&mut reader)
        } else {
            let mut text = Vec::new();
            let read = reader.read_to_end(&mut text).map_err(|error| self.broken(&error)).map(|_| text);
            read.map(|text| (serde_json::from_slice(&text).ok(), String::from_utf8_lossy(&text).into_owned()))
        };
        let (message, text) = found?;
        match message {
            // Some servers send an error with an HTTP error status.
            Some(message) if status.is_success() || matches!(message, ServerJsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(message, own))
            }
            _ => {
                let why = format!("it returned {}: {}", status.as_u16(), shown(&text));
                self.output.over(why.clone(), !matches!(status.as_u16(), 200..=299 | 408 | 425 | 429 | 500..=599));
                Err(StreamableHttpError::UnexpectedServerResponse(why.into()))
            }
        }
    }

    /// The response in an event stream, and its last event as text.
    fn event(&self, from: impl Read) -> Result<(Option<ServerJsonRpcMessage>, String), WebError> {
        let mut data = String::new();
        for line in BufReader::new(from).lines() {
            let line = line.map_err(|error| self.broken(&error))?;
            if let Some(more) = line.strip_prefix("data:") {
                data += more.strip_prefix(' ').unwrap_or(more);
                data.push('\n');
            } else if line.is_empty() && !data.is_empty() {
                match serde_json::from_str(&data) {
                    Ok(message @ (ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))) => {
                        return Ok((Some(message), data));
                    }
                    _ => data.clear(),
                }
            }
        }
        Ok((None, data))
    }

    fn broken(&self, error: &std::io::Error) -> WebError {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match inner {
            Some(ureq::Error::BodyExceedsLimit(most)) => {
                self.output.over(format!("it sent more than {most} bytes at once"), true);
            }
            _ => self.output.over(error.to_string(), false),
        }
        StreamableHttpError::UnexpectedEndOfStream
    }
}

impl StreamableHttpClient for HttpTransport {
    type Error = ureq::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, WebError> {
        let web = self.clone();
        let post = move || web.post(&uri, &message, (session_id.as_deref(), auth_header.as_deref()), &custom_headers);
        tokio::task::spawn_blocking(post).await?
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        _custom_headers: Headers,
    ) -> Result<(), WebError> {
        let web = self.clone();
        let delete = move || {
            let call = web.client.delete(&*uri).header(SESSION, &*session_id);
            let call = match auth_header {
                Some(token) => call.header("Authorization", format!("Bearer {token}")),
                None => call,
            };
            call.call().map(drop).map_err(StreamableHttpError::Client)
        };
        tokio::task::spawn_blocking(delete).await?
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session_id: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _auth_header: Option<String>,
        _custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, WebError> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}
