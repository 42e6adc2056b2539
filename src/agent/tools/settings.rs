//! How servers are set up whose tools nodes may call (`mcp_servers:` of the project file).

use super::super::settings::{BreakerSettings, RetrySettings, seconds};
use crate::net::{Hider, ReadSecret, Secret};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The servers, by name.
pub type Servers = BTreeMap<String, ServerSettings>;

/// How one is set up: either by a command that speaks over its standard input and output, or by an address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerSettings {
    /// The program with its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Variables of its environment, beside those that there are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Variable>,
    /// Where it is, over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where the token is that it wants, over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// How long a call may take, and how long it may take to begin with it.
    #[serde(serialize_with = "seconds")]
    pub timeout: Duration,
    /// How often a call is made again.
    pub retry: RetrySettings,
    /// When it is left alone.
    pub breaker: BreakerSettings,
    /// How many calls may be under way; nothing for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// The most bytes of an answer.
    pub max_bytes: usize,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Variable {
    /// As it stands.
    Text(String),
    /// Where it is.
    Secret(Secret),
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            secret: None,
            timeout: Duration::from_secs(60),
            retry: RetrySettings { attempts: 3, wait: Duration::from_secs(1), most: Duration::from_secs(60) },
            breaker: BreakerSettings { failures: 5, rest: Duration::from_secs(30) },
            concurrency: None,
            max_bytes: super::super::MOST_BYTES,
        }
    }
}

impl ServerSettings {
    /// Where it is, for people.
    pub fn place(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.command.join(" "))
    }

    /// What keeps it from being used, as far as that can be told without starting or asking it: why, and what to do.
    pub fn fault(&self, root: &Path, read: ReadSecret) -> Option<(String, String)> {
        if let Some(program) = self.command.first().filter(|program| !is_there(program, root)) {
            return Some((format!("there is no program `{program}`"), "install it, or mend `command:` in asterisk.yaml".into()));
        }
        self.secrets(root, read).err()
    }

    /// The secrets it is given: the values of its variables by name, and its token. An error says why one cannot be read, and what
    /// to do.
    pub(super) fn secrets(&self, root: &Path, read: ReadSecret) -> Result<Secrets, (String, String)> {
        let value = |variable: &Variable| match variable {
            Variable::Text(text) => Ok((text.clone(), false)),
            Variable::Secret(secret) => secret.read(root, read, "env").map(|text| (text, true)),
        };
        let mut secrets = Secrets::default();
        for (name, variable) in &self.env {
            let (text, hidden) = value(variable)?;
            if hidden {
                secrets.hidden.push(Hider::new(&text));
            }
            secrets.env.push((name.clone(), text));
        }
        if let Some(secret) = &self.secret {
            let token = secret.read(root, read, "secret")?;
            secrets.hidden.push(Hider::new(&token));
            secrets.token = Some(token);
        }
        Ok(secrets)
    }
}

/// Whether a program can be found: below `root` if it is named with a directory, else where programs are.
fn is_there(program: &str, root: &Path) -> bool {
    if program.contains('/') {
        return root.join(program).is_file();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(program).is_file())
}

/// What a server is given that nobody is shown.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    pub(super) env: Vec<(String, String)>,
    pub(super) token: Option<String>,
    hidden: Vec<Hider>,
}

impl Secrets {
    /// A text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        self.hidden.iter().fold(text.to_owned(), |text, hider| hider.hide(&text))
    }
}
