//! An agent behind an HTTP API compatible with `OpenAI`'s chat completions.

use super::artifact::too_long;
use super::concurrency::{stopped, unless_stopped};
use super::context::ExternalContext;
use super::output_reader::OutputReader;
use super::settings::AgentSettings;
use crate::net::{HttpClient, HttpResponse, SecretReader, SecretRedactor, hidden, shown};
use asterisk_base::clock::Clock;
use asterisk_diag::Diagnostic;
use asterisk_walk::{AfterRefusal, Answerer, Name, NodeAnswer, PromptRequest, Refusal, Request};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Path of requests below the configured address.
const ENDPOINT: &str = "/chat/completions";

/// An agent behind HTTP.
pub(super) struct HttpAgent<'a> {
    name: Name,
    settings: AgentSettings,
    root: PathBuf,
    secret: SecretReader,
    clock: &'a dyn Clock,
    stop: &'a AtomicBool,
    client: HttpClient,
}

impl<'a> HttpAgent<'a> {
    pub(super) fn new(name: &str, settings: &AgentSettings, outside: &ExternalContext<'a>) -> Self {
        let client = HttpClient::new(settings.bounds.timeout, settings.bounds.max_bytes);
        let ExternalContext { root, clock, stop, .. } = *outside;
        let secret = outside.secret.clone();
        Self { name: name.into(), settings: settings.clone(), root: root.to_owned(), secret, clock, stop, client }
    }

    fn url(&self) -> String {
        let url = self.settings.url.as_deref().unwrap_or_default().trim_end_matches('/');
        if url.ends_with(ENDPOINT) { url.to_owned() } else { format!("{url}{ENDPOINT}") }
    }

    fn body(&self, request: &Request<'_>, prompt_request: &PromptRequest) -> Value {
        let mut body = json!({ "messages": [{ "role": "user", "content": prompt_request.prompt }] });
        if let Some(model) = self.settings.model_named(request.model) {
            body["model"] = json!(model);
        }
        let schema = request.kind().json_schema();
        let name: String = request.name().chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' }).collect();
        body["response_format"] = json!({ "type": "json_schema", "json_schema": { "name": name, "schema": schema } });
        body
    }

    /// Sends a request; `None` if the run stops or the node's timeout passes before the response.
    fn post(
        &self,
        request: &Request<'_>,
        prompt_request: &PromptRequest,
        secret: Option<&str>,
    ) -> Option<Result<HttpResponse, ureq::Error>> {
        // Idempotency key: the same for every attempt of a request.
        let key = format!("{}-{}", request.run, prompt_request.id);
        let call =
            ureq::http::Request::post(self.url()).header("Content-Type", "application/json").header("Idempotency-Key", key);
        let call = call.body(self.body(request, prompt_request).to_string()).map_err(ureq::Error::from);
        let (client, secret) = (self.client.clone(), secret.map(str::to_owned));
        unless_stopped(request, self.stop, move || client.send(call?, secret.as_deref()))
    }

    fn failed(&self, request: &Request<'_>, why: &str) -> Diagnostic {
        let message = format!("`{}` ({}) did not answer `{}`: {why}", self.name, self.url(), request.name());
        Diagnostic::error("agent/http", message)
    }
}

impl Answerer for HttpAgent<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let reader = OutputReader { name: &self.name, settings: &self.settings };
        let secret = self.settings.secret.as_ref().map(|secret| secret.read(&self.root, &self.secret, "secret")).transpose();
        let secret = secret.map_err(|(why, help)| Refusal::failed(self.failed(request, &why).help(help)))?;
        let prompt_request = request.dispatch(&self.name)?;
        let back = match self.post(request, &prompt_request, secret.as_deref()) {
            None => return Err(request.overdue().unwrap_or_else(stopped)),
            Some(Ok(back)) => back,
            Some(Err(ureq::Error::BodyExceedsLimit(most))) => {
                return Err(reader.complain(request, too_long(usize::try_from(most).unwrap_or(usize::MAX))));
            }
            Some(Err(error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_)))) => {
                let help = "see `url:` in asterisk.yaml, for example https://api.openai.com/v1";
                return Err(Refusal::failed(self.failed(request, &error.to_string()).help(help)));
            }
            Some(Err(error)) => {
                let help = "check that it runs there, or correct `url:` in asterisk.yaml";
                return Err(Refusal::again(self.failed(request, &error.to_string()).help(help)));
            }
        };
        match back.status {
            200..=299 => {
                let mut reply = reader.reply(request, &prompt_request, &back.body)?;
                if let Some(secret) = &secret {
                    // In whatever form the response contains it.
                    let hider = SecretRedactor::new(secret);
                    reply.artifact = Arc::new(hidden(Arc::unwrap_or_clone(reply.artifact), &|text| hider.hide(text)));
                }
                Ok(reply)
            }
            status if back.is_transient() => {
                let refusal = Refusal::again(self.failed(request, &format!("it returned {status}: {}", shown(&back.body))));
                Err(Refusal { next: AfterRefusal::Retry(back.retry_after(self.clock)), ..refusal })
            }
            status => {
                let error = self.failed(request, &format!("it returned {status}: {}", shown(&back.body)));
                Err(Refusal::failed(match status {
                    401 | 403 => error.help("check `secret:` in asterisk.yaml and the permissions of the secret"),
                    300..=399 => {
                        error.help("set `url:` to the address it redirects to: redirects are not followed, since the request carries a secret")
                    }
                    _ => error.help("see `url:` and `model:` in asterisk.yaml"),
                }))
            }
        }
    }
}
