//! Sends a request to ReportPortal, with retries.

use super::settings::{PortalLaunch, PortalSettings};
use crate::net::{HttpClient, HttpResponse, SecretReader, backoff, shown, wait};
use asterisk_base::clock::{Clock, chance};
use asterisk_diag::{Diagnostic, Source, Span};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use ureq::http::{Method, Request};

/// Timeout of one response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of one response, in bytes.
const MAX_BYTES: usize = 32 << 20;
/// Maximum number of attempts.
const MAX_ATTEMPTS: usize = 5;
/// First and longest delay before a retry, unless the server specifies one.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Characters not escaped in a segment of an address.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Dependencies of the client.
#[derive(Clone)]
pub struct Access<'a> {
    /// Base directory of secret files.
    pub root: &'a Path,
    /// Reads secrets in files.
    pub secret: SecretReader,
    /// Clock.
    pub clock: &'a dyn Clock,
    /// Set to stop waiting.
    pub stop: &'a AtomicBool,
}

/// A project of a ReportPortal server.
pub struct Portal<'a> {
    place: PortalLaunch,
    token: Option<String>,
    client: HttpClient,
    clock: &'a dyn Clock,
    stop: &'a AtomicBool,
}

/// Error of a request.
#[derive(Debug)]
pub enum PortalError {
    /// Not configured, or nothing of that name exists.
    BadRequest(Diagnostic),
    /// The server is unreachable or unavailable.
    Outside(Diagnostic),
    /// The server refuses this request: status and reason.
    Refused(u16, Diagnostic),
    /// The response exceeds the size limit.
    TooLong(Diagnostic),
    /// The response is invalid.
    Text(Diagnostic),
}

impl PortalError {
    /// The diagnostic to show.
    pub fn diagnostic(self) -> Diagnostic {
        match self {
            Self::BadRequest(diagnostic)
            | Self::Outside(diagnostic)
            | Self::Refused(_, diagnostic)
            | Self::TooLong(diagnostic)
            | Self::Text(diagnostic) => diagnostic,
        }
    }
}

impl<'a> Portal<'a> {
    /// A client, if ReportPortal is configured.
    pub fn open(settings: &PortalSettings, access: &Access<'a>) -> Result<Self, PortalError> {
        let unset =
            |(why, help): (String, String)| PortalError::BadRequest(Diagnostic::error("reportportal/setup", why).help(help));
        let place = settings.place().map_err(unset)?;
        let token = settings.token.as_ref().map(|token| token.read(access.root, &access.secret, "reportportal.token"));
        let token = token.transpose().map_err(|(why, help)| unset((format!("the token of ReportPortal: {why}"), help)))?;
        let Access { clock, stop, .. } = *access;
        Ok(Self { place, token, client: HttpClient::new(RESPONSE_TIMEOUT, MAX_BYTES), clock, stop })
    }

    /// Address and project.
    pub fn place(&self) -> &PortalLaunch {
        &self.place
    }

    /// Sends a GET request below the project.
    pub(super) fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, PortalError> {
        let mut path = path.to_owned();
        for (at, (key, value)) in query.iter().enumerate() {
            let _ = write!(path, "{}{key}={}", if at == 0 { '?' } else { '&' }, escaped(value));
        }
        self.call(&Method::GET, &path, None)
    }

    /// Sends a PUT request below the project; it is idempotent.
    pub(super) fn put(&self, path: &str, body: &Value) -> Result<Value, PortalError> {
        self.call(&Method::PUT, path, Some(&body.to_string()))
    }

    fn call(&self, method: &Method, path: &str, body: Option<&str>) -> Result<Value, PortalError> {
        let url = format!("{}/api/v1/{}/{path}", self.place.url, escaped(&self.place.project));
        let mut failures = 0;
        loop {
            let (why, after) = match self.send(method, &url, body) {
                Ok(back) if back.is_transient() => {
                    (format!("it returned {}: {}", back.status, shown(&back.body)), back.retry_after(self.clock))
                }
                Ok(back) => return self.read(&url, &back),
                Err(ureq::Error::BodyExceedsLimit(most)) => {
                    return Err(PortalError::TooLong(Self::failed(&url, &format!("its answer is longer than {most} bytes"))));
                }
                Err(error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_))) => {
                    return Err(PortalError::BadRequest(
                        Self::failed(&url, &error.to_string()).help("see `reportportal.url:` in asterisk.yaml"),
                    ));
                }
                Err(error) => (error.to_string(), None),
            };
            failures += 1;
            let help = "check that it runs there, or correct `reportportal.url:` in asterisk.yaml; then retry";
            if failures == MAX_ATTEMPTS {
                let why = format!("{why} (after {MAX_ATTEMPTS} attempts)");
                return Err(PortalError::Outside(Self::failed(&url, &why).help(help)));
            }
            let rest = after.unwrap_or_else(|| backoff(BACKOFF, failures, chance(failures as u64, &url, "")));
            if !wait(self.clock, rest, self.stop) {
                return Err(PortalError::Outside(Self::failed(&url, &format!("{why}, and the wait was aborted"))));
            }
        }
    }

    fn send(&self, method: &Method, url: &str, body: Option<&str>) -> Result<HttpResponse, ureq::Error> {
        let request = Request::builder().method(method.clone()).uri(url).header("Accept", "application/json");
        let token = self.token.as_deref();
        match body {
            None => self.client.send(request.body(())?, token),
            Some(body) => self.client.send(request.header("Content-Type", "application/json").body(body.to_owned())?, token),
        }
    }

    fn read(&self, url: &str, back: &HttpResponse) -> Result<Value, PortalError> {
        if (200..300).contains(&back.status) {
            return serde_json::from_str(&back.body).map_err(|error| PortalError::Text(broken(url, &back.body, &error)));
        }
        let error = Self::failed(url, &format!("it returned {}: {}", back.status, refusal_message(&back.body)));
        Err(match back.status {
            401 if self.token.is_none() => {
                let help = "it requires a token: create an API key in your profile there, and set `reportportal.token:` in asterisk.yaml\n\
                            to `{ env: NAME }` or `{ file: PATH }`, or ASTERISK_REPORTPORTAL_TOKEN";
                PortalError::Outside(error.help(help))
            }
            401 => PortalError::Outside(error.help(
                "the token was rejected: create a new API key in your profile there; see `reportportal.token:` in asterisk.yaml",
            )),
            403 => {
                let help = format!("the owner of the token must be a member of the project `{}` there", self.place.project);
                PortalError::Outside(error.help(help))
            }
            300..=399 => {
                let help = "set `reportportal.url:` to the address it redirects to: redirects are not followed, since the request carries the token";
                PortalError::Outside(error.help(help))
            }
            status => {
                let help = format!("check `reportportal:` in asterisk.yaml; its project is `{}`", self.place.project);
                PortalError::Refused(status, error.help(help))
            }
        })
    }

    fn failed(url: &str, why: &str) -> Diagnostic {
        let path = url.split('?').next().unwrap_or(url);
        Diagnostic::error("reportportal/server", format!("the request to ReportPortal failed ({path}): {why}"))
    }
}

/// Escapes a segment of an address.
pub(super) fn escaped(part: &str) -> String {
    utf8_percent_encode(part, PLAIN).to_string()
}

/// The message in the body of a refusal.
fn refusal_message(body: &str) -> String {
    let message: Option<Value> = serde_json::from_str(body).ok();
    let words = message
        .as_ref()
        .and_then(|message| ["message", "error_description", "error"].iter().find_map(|key| message[key].as_str()));
    shown(words.unwrap_or(body))
}

/// Diagnostic for a response that does not parse, with the location.
fn broken(url: &str, body: &str, error: &serde_json::Error) -> Diagnostic {
    let page = body.trim_start().starts_with('<');
    let source = Source::new(url.split('?').next().unwrap_or(url), body.chars().take(4096).collect::<String>());
    let at = source.offset(error.line(), error.column()).min(source.text().len().saturating_sub(1));
    let help = if page {
        "it looks like a web page: check that `reportportal.url:` in asterisk.yaml is the address of ReportPortal, and not of a login page in front of it"
    } else {
        "retry; if it persists, check proxies between here and the server"
    };
    let diagnostic = Diagnostic::error("reportportal/json", format!("the answer of ReportPortal is not valid JSON: {error}"));
    if source.text().is_empty() || !source.text().is_char_boundary(at) {
        return diagnostic.help(help);
    }
    let next = source.text()[at..].chars().next().map_or(0, char::len_utf8);
    diagnostic.label(&source, Span::new(at, at + next), "here").help(help)
}
