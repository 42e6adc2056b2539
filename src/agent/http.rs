//! A model behind HTTP that speaks the protocol of `OpenAI`'s chat completions.

use super::build::Outside;
use super::heard::{Ear, shown};
use super::limit::{stopped, unless_stopped};
use super::secret::ReadSecret;
use super::settings::Settings;
use crate::clock::Clock;
use crate::diag::Diagnostic;
use crate::walk::{Answer, Asking, Name, Next, Refusal, Reply, Request};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Where requests go below the address that is set up.
const ENDPOINT: &str = "/chat/completions";
/// The longest time that a server may ask to be left alone.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server.
pub(super) struct Http<'a> {
    name: Name,
    settings: Settings,
    root: PathBuf,
    secret: ReadSecret,
    clock: &'a dyn Clock,
    stop: &'a AtomicBool,
    client: ureq::Agent,
}

/// What came back.
struct Back {
    status: u16,
    /// How long to wait before asking again, if it says so.
    after: Option<Duration>,
    body: String,
}

impl<'a> Http<'a> {
    pub(super) fn new(name: &str, settings: &Settings, outside: &Outside<'a>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            // A secret goes nowhere else than where it was set up to go.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("asterisk/", env!("CARGO_PKG_VERSION")))
            .build();
        let client = config.new_agent();
        let Outside { root, clock, secret, stop, .. } = *outside;
        Self { name: name.into(), settings: settings.clone(), root: root.to_owned(), secret, clock, stop, client }
    }

    fn url(&self) -> String {
        let url = self.settings.url.as_deref().unwrap_or_default().trim_end_matches('/');
        if url.ends_with(ENDPOINT) { url.to_owned() } else { format!("{url}{ENDPOINT}") }
    }

    fn body(&self, request: &Request<'_>, asking: &Asking) -> Value {
        let mut body = json!({ "messages": [{ "role": "user", "content": asking.prompt }] });
        if let Some(model) = &self.settings.model {
            body["model"] = json!(model);
        }
        let schema = request.plan.node(request.node).kind.json_schema();
        let name: String = request.node_name().chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' }).collect();
        body["response_format"] = json!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema } });
        body
    }

    /// What comes back; nothing if the run is to stop before.
    fn post(&self, request: &Request<'_>, asking: &Asking, secret: Option<&str>) -> Option<Result<Back, ureq::Error>> {
        // The same whenever the same is asked again, so that a server may see that it is.
        let key = format!("{}-{}", request.run, asking.id);
        let mut call = self.client.post(self.url()).header("Content-Type", "application/json").header("Idempotency-Key", key);
        if let Some(secret) = secret {
            call = call.header("Authorization", format!("Bearer {secret}"));
        }
        let (body, most) = (self.body(request, asking).to_string(), self.settings.max_bytes as u64);
        let back = unless_stopped(self.stop, move || {
            let mut response = call.send(body)?;
            let after = response.headers().get("Retry-After").and_then(|value| value.to_str().ok()).map(str::to_owned);
            let body = response.body_mut().with_config().limit(most).lossy_utf8(true).read_to_string()?;
            Ok((response.status().as_u16(), after, body))
        })?;
        Some(back.map(|(status, after, body)| Back { status, after: after.and_then(|text| self.after(&text)), body }))
    }

    /// The time in a `Retry-After`: seconds, or an instant.
    fn after(&self, text: &str) -> Option<Duration> {
        let seconds = text.trim().parse::<u64>().ok().map(Duration::from_secs);
        let until = || {
            let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp().as_millisecond();
            let left = at - self.clock.now().millis();
            Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
        };
        seconds.or_else(until).map(|time| time.min(PATIENCE))
    }

    fn failed(&self, request: &Request<'_>, why: &str) -> Diagnostic {
        let message = format!("`{}` ({}) did not answer `{}`: {why}", self.name, self.url(), request.node_name());
        Diagnostic::error("agent/http", message)
    }
}

impl Answer for Http<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Refusal> {
        let ear = Ear { name: &self.name, settings: &self.settings };
        let secret = self.settings.secret.as_ref().map(|secret| secret.read(&self.root, self.secret)).transpose();
        let secret = secret.map_err(|(why, help)| Refusal::failed(self.failed(request, &why).help(help)))?;
        let asking = request.ask(&self.name)?;
        let back = match self.post(request, &asking, secret.as_deref()) {
            None => return Err(stopped()),
            Some(Ok(back)) => back,
            Some(Err(ureq::Error::BodyExceedsLimit(most))) => {
                return Err(ear.complain(request, format!("it is longer than {most} bytes")));
            }
            Some(Err(error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_)))) => {
                let help = "see `url:` in asterisk.yaml, for example https://api.openai.com/v1";
                return Err(Refusal::failed(self.failed(request, &error.to_string()).help(help)));
            }
            Some(Err(error)) => {
                let help = "see that it runs there, or `url:` in asterisk.yaml";
                return Err(Refusal::again(self.failed(request, &error.to_string()).help(help)));
            }
        };
        // Whatever a server says back, nobody is shown a secret.
        let body = secret.as_deref().map_or_else(|| back.body.clone(), |secret| back.body.replace(secret, "(secret)"));
        match back.status {
            200..=299 => ear.reply(request, &asking, &body),
            status @ (408 | 409 | 425 | 429 | 500..=599) => {
                let refusal = Refusal::again(self.failed(request, &format!("it says {status}: {}", shown(&body))));
                Err(Refusal { next: Next::Retry(back.after), ..refusal })
            }
            status => {
                let error = self.failed(request, &format!("it says {status}: {}", shown(&body)));
                Err(Refusal::failed(match status {
                    401 | 403 => error.help("see `secret:` in asterisk.yaml, and what the secret is allowed to do"),
                    300..=399 => {
                        error.help("give `url:` where it wants to be asked: it is not followed, since a secret goes with it")
                    }
                    _ => error.help("see `url:` and `model:` in asterisk.yaml"),
                }))
            }
        }
    }
}
