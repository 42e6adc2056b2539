//! How servers are set up whose tools nodes may call (`mcp_servers:` of the project file).

use super::super::group::is_found;
use super::super::settings::AgentBounds;
use crate::net::{ReadSecret, SecretRedactor, SecretSource};
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
    pub secret: Option<SecretSource>,
    /// How it is asked.
    #[serde(flatten)]
    pub bounds: AgentBounds,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Variable {
    /// As it stands.
    Text(String),
    /// Where it is.
    Secret(SecretSource),
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            secret: None,
            bounds: AgentBounds::of(Duration::from_secs(60)),
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
        let place = |program: &String| if program.contains('/') { root.join(program) } else { program.into() };
        if let Some(program) = self.command.first().filter(|program| !is_found(&place(program), None)) {
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
                secrets.hidden.push(SecretRedactor::new(&text));
            }
            secrets.env.push((name.clone(), text));
        }
        if let Some(secret) = &self.secret {
            let token = secret.read(root, read, "secret")?;
            secrets.hidden.push(SecretRedactor::new(&token));
            secrets.token = Some(token);
        }
        Ok(secrets)
    }
}

/// What a server is given that nobody is shown.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    pub(super) env: Vec<(String, String)>,
    pub(super) token: Option<String>,
    hidden: Vec<SecretRedactor>,
}

impl Secrets {
    /// A text without them.
    pub(super) fn hide(&self, text: &str) -> String {
        self.hidden.iter().fold(text.to_owned(), |text, hider| hider.hide(&text))
    }
}
