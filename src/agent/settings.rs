//! How those who are asked outside of the process are set up (`agents:` of the project file).

use crate::net::SecretSource;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Who may be asked, by name.
pub type Agents = BTreeMap<String, AgentSettings>;

/// What kind of answerer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswererKind {
    /// A command: the prompt on its standard input, JSON on its standard output.
    Exec,
    /// As [`AnswererKind::File`], several requests at once.
    #[serde(rename = "batch-file")]
    BatchFile,
    /// Somebody who sees a signal file, and leaves the answer where it says.
    File,
    /// A model behind HTTP, asked as `OpenAI`'s chat completions are.
    Http,
    /// Somebody who takes the prompt (`asterisk cursor`) and brings the answer (`asterisk save`).
    Manual,
    /// Workers that pull steps from `asterisk serve`.
    Mcp,
}

impl AnswererKind {
    /// All of them, by name.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("exec", Self::Exec),
        ("file", Self::File),
        ("batch-file", Self::BatchFile),
        ("http", Self::Http),
        ("manual", Self::Manual),
        ("mcp", Self::Mcp),
    ];

    /// Those that can be asked without being set up.
    pub(super) const READY: &'static [Self] = &[Self::File, Self::BatchFile, Self::Mcp];

    /// Whether it answers through files.
    pub fn through_files(self) -> bool {
        matches!(self, Self::File | Self::BatchFile)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// How one is set up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentSettings {
    /// What it is.
    pub kind: AnswererKind,
    /// The command with its arguments, of [`AnswererKind::Exec`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Where it is, of [`AnswererKind::Http`]: the address above `/chat/completions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of the model, of [`AnswererKind::Http`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where the secret is that it wants, of [`AnswererKind::Http`]; of [`AnswererKind::Exec`], the variable that the command keeps though others name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretSource>,
    /// How it is asked.
    #[serde(flatten)]
    pub bounds: AgentBounds,
    /// What tokens cost.
    pub price: Price,
    /// The field of what it says that holds the answer, as a path (`result`, `choices.0.text`); nothing if it is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The fields that say how many tokens prompt and answer took, as paths; estimated without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<(String, String)>,
    /// The directory in which runs have theirs for signals, of those who answer through files; nothing for where runs write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// How often it is looked for their answer.
    #[serde(serialize_with = "seconds", skip_serializing_if = "is_usual")]
    pub poll: Duration,
    /// The most requests of a batch, of [`AnswererKind::BatchFile`].
    #[serde(skip_serializing_if = "is_usual_size")]
    pub size: usize,
    /// How long a claim to a request of a batch holds.
    #[serde(serialize_with = "seconds", skip_serializing_if = "is_usual_claim")]
    pub claim: Duration,
}

/// How often it is looked for an answer, if nobody says otherwise.
const POLL: Duration = Duration::from_millis(500);

/// How many requests a batch has, if nobody says otherwise.
const SIZE: usize = 4;
/// How long a claim holds, if nobody says otherwise.
const CLAIM: Duration = Duration::from_secs(300);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_usual_size(size: &usize) -> bool {
    *size == SIZE
}

fn is_usual_claim(claim: &Duration) -> bool {
    *claim == CLAIM
}

fn is_usual(poll: &Duration) -> bool {
    *poll == POLL
}

/// How anybody outside is asked: an agent, or a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentBounds {
    /// How long one answer may take; of a tool's server also how long it may take to begin with it.
    #[serde(serialize_with = "seconds")]
    pub timeout: Duration,
    /// How often it is asked again.
    pub retry: RetrySettings,
    /// When it is left alone.
    pub breaker: BreakerSettings,
    /// How many may ask it at once; nothing for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// The most bytes of an answer.
    pub max_bytes: usize,
}

impl AgentBounds {
    /// The usual ones, with that time for an answer.
    pub(super) fn of(timeout: Duration) -> Self {
        Self {
            timeout,
            retry: RetrySettings { attempts: 3, wait: Duration::from_secs(1), most: Duration::from_secs(60) },
            breaker: BreakerSettings { failures: 5, rest: Duration::from_secs(30) },
            concurrency: None,
            max_bytes: super::MOST_BYTES,
        }
    }
}

/// How often one is asked again, and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RetrySettings {
    /// How many attempts a step has, those whose answer was not accepted among them; at least 1.
    pub attempts: usize,
    /// How long to wait after the first failure; twice as long after each further one, up to `most`, less up to half of it by chance.
    #[serde(serialize_with = "seconds")]
    pub wait: Duration,
    /// The longest wait. One who asks to be left alone for longer is passed over if there is another to be asked.
    #[serde(serialize_with = "seconds")]
    pub most: Duration,
}

/// When one is left alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BreakerSettings {
    /// After so many failures in a row.
    pub failures: usize,
    /// For so long; then one request probes it.
    #[serde(serialize_with = "seconds")]
    pub rest: Duration,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Price {
    /// Of prompts.
    #[serde(rename = "in")]
    pub prompt: f64,
    /// Of answers.
    #[serde(rename = "out")]
    pub answer: f64,
}

impl AgentSettings {
    /// The usual ones of a kind.
    pub fn of(kind: AnswererKind) -> Self {
        let http = kind == AnswererKind::Http;
        Self {
            kind,
            command: Vec::new(),
            url: None,
            model: None,
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
