//! HTTP client: sends one request with its secret and returns the response.

use asterisk_base::clock::Clock;
use std::time::Duration;
use ureq::AsSendBody;
use ureq::http::{Request, header};

/// Upper bound of the delay a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);
/// Number of characters of a response shown in messages.
const SHOWN_CHARS: usize = 300;

/// HTTP client. Redirects are not followed, so that a secret is sent to the configured address only.
#[derive(Clone, Debug)]
pub struct HttpClient {
    agent: ureq::Agent,
    most: usize,
}

/// A response.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// HTTP status.
    pub status: u16,
    /// The `Retry-After` header.
    after: Option<String>,
    /// Body, with the secret redacted.
    pub body: String,
}

impl HttpResponse {
    /// The delay requested by the server before a retry, if any.
    pub fn retry_after(&self, clock: &dyn Clock) -> Option<Duration> {
        after(self.after.as_deref()?, clock)
    }

    /// Whether the status is transient, so that a retry may help.
    pub fn is_transient(&self) -> bool {
        matches!(self.status, 408 | 409 | 425 | 429 | 500..=599)
    }
}

impl HttpClient {
    /// A client with a timeout and a limit on the body in bytes.
    pub fn new(timeout: Duration, most: usize) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("asterisk/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), most }
    }

    /// Sends a request with the secret as its bearer token.
    pub fn send<B: AsSendBody>(&self, request: Request<B>, secret: Option<&str>) -> Result<HttpResponse, ureq::Error> {
        let (mut parts, body) = request.into_parts();
        if let Some(secret) = secret {
            let mut value = header::HeaderValue::from_str(&format!("Bearer {secret}")).map_err(ureq::http::Error::from)?;
            value.set_sensitive(true);
            parts.headers.insert(header::AUTHORIZATION, value);
        }
        let mut response = self.agent.run(Request::from_parts(parts, body))?;
        let after = response.headers().get("Retry-After").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let text = response.body_mut().with_config().limit(self.most as u64).lossy_utf8(true).read_to_string()?;
        // A server may echo the secret.
        let body = secret.map_or_else(|| text.clone(), |secret| super::SecretRedactor::new(secret).hide(&text));
        Ok(HttpResponse { status: response.status().as_u16(), after, body })
    }
}

/// Parses `Retry-After`: seconds, or a date.
fn after(text: &str, clock: &dyn Clock) -> Option<Duration> {
    let seconds = text.trim().parse::<u64>().ok().map(Duration::from_secs);
    let until = || {
        let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp().as_millisecond();
        let left = at - clock.now().millis();
        Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
    };
    seconds.or_else(until).map(|time| time.min(MAX_RETRY_AFTER))
}

/// The beginning of a text, on one line, for messages.
pub fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "(empty)".to_owned();
    }
    let cut: String = line.chars().take(SHOWN_CHARS).collect();
    if cut.len() < line.len() { format!("\"{cut}...\"") } else { format!("\"{cut}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::clock::FixedClock;

    #[test]
    fn servers_ask_for_seconds_or_until_an_instant() {
        let clock = FixedClock::new("2026-02-14T21:21:09Z".parse().expect("an instant"), 0);
        let seconds = |text| after(text, &clock).map(|time| time.as_secs());
        assert_eq!(seconds("7"), Some(7));
        assert_eq!(seconds("Sat, 14 Feb 2026 21:21:19 GMT"), Some(10));
        assert_eq!(seconds("Sat, 14 Feb 2026 21:21:00 GMT"), Some(0));
        assert_eq!((seconds("99999999"), seconds("soon")), (Some(600), None));
    }
}
