//! Settings of external answerers (`agents:` of the project file).

use crate::net::SecretSource;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Settings by name of the agent.
pub type Agents = BTreeMap<String, AgentSettings>;

/// Kind of an answerer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswererKind {
    /// A command: the prompt on standard input, JSON on standard output.
    Exec,
    /// Like [`AnswererKind::File`], with several requests at once.
    #[serde(rename = "batch-file")]
    BatchFile,
    /// An agent that watches for signal files and writes answers to the paths they name.
    File,
    /// A model behind an HTTP API compatible with `OpenAI`'s chat completions.
    Http,
    /// A person or agent that takes the prompt (`asterisk cursor`) and submits the answer (`asterisk save`).
    Manual,
    /// Workers that pull steps from `asterisk serve`.
    Mcp,
}

impl AnswererKind {
    /// All kinds, by name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("exec", Self::Exec),
        ("file", Self::File),
        ("batch-file", Self::BatchFile),
        ("http", Self::Http),
        ("manual", Self::Manual),
        ("mcp", Self::Mcp),
    ];

    /// Kinds that are available without configuration.
    pub(super) const READY: &'static [Self] = &[Self::File, Self::BatchFile, Self::Mcp];

    /// Whether it communicates through files.
    pub fn through_files(self) -> bool {
        matches!(self, Self::File | Self::BatchFile)
    }

    /// Name of the kind.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Settings of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentSettings {
    /// Kind.
    pub kind: AnswererKind,
    /// Program and arguments, for [`AnswererKind::Exec`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Base address above `/chat/completions`, for [`AnswererKind::Http`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Name of the model, for [`AnswererKind::Http`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names of models, by what walkers call them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// Source of the API key, for [`AnswererKind::Http`]; for [`AnswererKind::Exec`], the variable that the command may see although others
    /// name it as a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretSource>,
    /// Limits on requests.
    #[serde(flatten)]
    pub bounds: AgentBounds,
    /// Price of tokens.
    pub price: Price,
    /// Path of the answer in the output (`result`, `choices.0.text`); `None` if it is the whole output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Paths of the token counts of prompt and answer; estimated without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<(String, String)>,
    /// Parent directory of the runs' signal directories, for file-based agents; `None` for the output directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Polling interval for answers.
    #[serde(serialize_with = "seconds", skip_serializing_if = "is_usual")]
    pub poll: Duration,
    /// Maximum number of requests in a batch, for [`AnswererKind::BatchFile`].
    #[serde(skip_serializing_if = "is_usual_size")]
    pub size: usize,
    /// Lifetime of a claim on a request of a batch.
    #[serde(serialize_with = "seconds", skip_serializing_if = "is_usual_claim")]
    pub claim: Duration,
}

/// Default polling interval.
const POLL: Duration = Duration::from_millis(500);

/// Default batch size.
const SIZE: usize = 4;
/// Default lifetime of a claim.
const CLAIM: Duration = Duration::from_secs(300);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_usual_size(size: &usize) -> bool {
    *size == SIZE
}

fn is_usual_claim(claim: &Duration) -> bool {
    *claim == CLAIM
}

fn is_usual(poll: &Duration) -> bool {
    *poll == POLL
}

/// Limits on requests to an agent or a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentBounds {
    /// Timeout of one answer; for a tool server also of its start.
    #[serde(serialize_with = "seconds")]
    pub timeout: Duration,
    /// Retries.
    pub retry: RetrySettings,
    /// Circuit breaker.
    pub breaker: BreakerSettings,
    /// Maximum number of concurrent requests; `None` is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// Maximum size of an answer, in bytes.
    pub max_bytes: usize,
}

impl AgentBounds {
    /// The defaults with a timeout.
    pub(super) fn of(timeout: Duration) -> Self {
        Self {
            timeout,
            retry: RetrySettings { attempts: 3, wait: Duration::from_secs(1), most: Duration::from_secs(60) },
            breaker: BreakerSettings { failures: 5, rest: Duration::from_secs(30) },
            concurrency: None,
            max_bytes: super::MAX_BYTES,
        }
    }
}

/// Retry with exponential backoff.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetrySettings {
    /// Number of attempts for a step, including those whose answer was invalid; at least 1.
    pub attempts: usize,
    /// Delay after the first failure; doubled after each further one up to `most`, with up to half of it subtracted as jitter.
    #[serde(serialize_with = "seconds")]
    pub wait: Duration,
    /// Maximum delay. An agent that asks for a longer one is skipped if the chain has a fallback.
    #[serde(serialize_with = "seconds")]
    pub most: Duration,
}

/// Settings of the circuit breaker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BreakerSettings {
    /// Consecutive failures that open the breaker.
    pub failures: usize,
    /// How long it stays open before a probe.
    #[serde(serialize_with = "seconds")]
    pub rest: Duration,
}

/// Price in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Price {
    /// Prompt tokens.
    #[serde(rename = "in")]
    pub prompt: f64,
    /// Answer tokens.
    #[serde(rename = "out")]
    pub answer: f64,
}

impl AgentSettings {
    /// The model for a walker that calls it by this name: that of `models`, else `model`.
    pub(super) fn model_named(&self, name: Option<&str>) -> Option<&String> {
        name.and_then(|name| self.models.get(name)).or(self.model.as_ref())
    }

    /// Default settings of a kind.
    pub fn of(kind: AnswererKind) -> Self {
        let http = kind == AnswererKind::Http;
        Self {
            kind,
            command: Vec::new(),
            url: None,
            model: None,
            models: BTreeMap::new(),
            secret: None,
            bounds: AgentBounds::of(Duration::from_secs(600)),
            price: Price { prompt: 3.0, answer: 15.0 },
            answer: http.then(|| "choices.0.message.content".to_owned()),
            tokens: http.then(|| ("usage.prompt_tokens".to_owned(), "usage.completion_tokens".to_owned())),
            dir: None,
            poll: POLL,
            size: SIZE,
            claim: CLAIM,
        }
    }
}

pub(super) fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{}s", time.as_secs_f64()))
}
