//! Settings of MCP servers whose tools nodes may call (`mcp_servers:` of the project file).

use super::super::group::is_found;
use super::super::settings::AgentBounds;
use crate::net::{SecretReader, SecretRedactor, SecretSource};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Settings by name of the server.
pub type Servers = BTreeMap<String, ServerSettings>;

/// Settings of a server: either a command that communicates over its standard streams, or an address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerSettings {
    /// Program and arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Additional environment variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Variable>,
    /// Address, for HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Source of the bearer token, for HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretSource>,
    /// Limits on requests.
    #[serde(flatten)]
    pub bounds: AgentBounds,
}

/// Value of an environment variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Variable {
    /// A literal value.
    Text(String),
    /// The source of a secret value.
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
    /// Command or address, for messages.
    pub fn place(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.command.join(" "))
    }

    /// A configuration error that can be detected without starting or calling the server: a message and a hint.
    pub fn fault(&self, root: &Path, reader: &SecretReader) -> Option<(String, String)> {
        let place = |program: &String| if program.contains('/') { root.join(program) } else { program.into() };
        if let Some(program) = self.command.first().filter(|program| !is_found(&place(program), reader.variables.get("PATH"))) {
            return Some((
                format!("the program `{program}` does not exist"),
                "install it, or correct `command:` in asterisk.yaml".into(),
            ));
        }
        self.secrets(root, reader).err()
    }

    /// The secrets of the server: values of its variables by name, and its token. An error is a message and a hint.
    pub(super) fn secrets(&self, root: &Path, reader: &SecretReader) -> Result<Secrets, (String, String)> {
        let value = |variable: &Variable| match variable {
            Variable::Text(text) => Ok((text.clone(), false)),
            Variable::Secret(secret) => secret.read(root, reader, "env").map(|text| (text, true)),
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
            let token = secret.read(root, reader, "secret")?;
            secrets.hidden.push(SecretRedactor::new(&token));
            secrets.token = Some(token);
        }
        Ok(secrets)
    }
}

/// Secrets of a server.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    pub(super) env: Vec<(String, String)>,
    pub(super) token: Option<String>,
    hidden: Vec<SecretRedactor>,
}

impl Secrets {
    /// The text with the secrets redacted.
    pub(super) fn hide(&self, text: &str) -> String {
        self.hidden.iter().fold(text.to_owned(), |text, hider| hider.hide(&text))
    }
}
