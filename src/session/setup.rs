//! What a session is told by its front end.

use super::SessionError;
use crate::agent::{Agents, STUB, Servers, Variable};
use crate::clock::Clock;
use crate::diag::secrets_in;
use crate::net::SecretSource;
use crate::project::{AnswererNames, ProjectVars, SCRIPT, VarPlaces};
use crate::reportportal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What [`Setup::keep`] is if nobody says otherwise.
pub const KEEP: usize = 2000;

/// Where things are, and the settings that hold for everything a session does.
#[derive(Clone)]
pub struct Setup {
    /// The project's directory; relative paths of its repositories are relative to it.
    pub root: PathBuf,
    /// The store.
    pub store: PathBuf,
    /// The root of all that runs write.
    pub out: PathBuf,
    /// A directory laid over the bundled scripts.
    pub scripts: Option<PathBuf>,
    /// A directory laid over the bundled pipelines.
    pub pipelines: Option<PathBuf>,
    /// A directory laid over the bundled templates.
    pub templates: Option<PathBuf>,
    /// Vars set for this command; the pipeline must have them.
    pub vars: Map<String, Value>,
    /// Where those are set, of which it is known.
    pub set_places: VarPlaces,
    /// Vars of the project file, for the pipelines that have them.
    pub project_vars: ProjectVars,
    /// The repositories of the project file: `{ "repositories": [{name, path, purpose, branch}] }`.
    pub workspace: Value,
    /// The vocabulary, by name; the default one if none is named.
    pub domain: Option<String>,
    /// Masks for all nodes that they are for, by path (`masks/recall.rhai`).
    pub masks: Vec<String>,
    /// The team, by its name in the data file `teams`, in the place of that of the pipeline.
    pub team: Option<String>,
    /// Who may be asked outside of the process, by name.
    pub agents: Agents,
    /// Where launches are fetched from, and what was found is written back to.
    pub reportportal: reportportal::PortalSettings,
    /// The servers whose tools nodes may call, by name.
    pub servers: Servers,
    /// The real time that one call of a script may take; the default if none.
    pub script_time: Option<Duration>,
    /// The most cases of a run that stay in memory while it goes on; of a larger run, each is read again from the journal
    /// whenever it is needed.
    pub keep: usize,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Setup {
    /// The variables of the environment that hold secrets of agents, servers and `ReportPortal`.
    pub(super) fn secret_variables(&self) -> BTreeSet<String> {
        let of_agents = self.agents.values().filter_map(|agent| agent.secret.as_ref());
        let of_servers = self.servers.values().flat_map(|server| {
            let variables =
                server.env.values().filter_map(|one| if let Variable::Secret(secret) = one { Some(secret) } else { None });
            variables.chain(&server.secret)
        });
        let all = of_agents.chain(of_servers).chain(&self.reportportal.token);
        all.filter_map(|secret| if let SecretSource::Env(name) = secret { Some(name.clone()) } else { None }).collect()
    }
}

/// Who answers the nodes of a run that do not say it themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RecordedVia", into = "RecordedVia")]
pub struct Via {
    /// In the order to be tried: `script`, `stub`, `manual`, or names of `agents:`.
    pub usual: Vec<String>,
    /// Of single nodes, by name, whatever the pipeline says of them.
    pub nodes: BTreeMap<String, Vec<String>>,
}

impl Default for Via {
    fn default() -> Self {
        Self::only(SCRIPT)
    }
}

impl Via {
    /// One alone.
    pub fn only(name: &str) -> Self {
        Self { usual: vec![name.to_owned()], nodes: BTreeMap::new() }
    }

    /// A file of canned answers.
    pub fn stub() -> Self {
        Self::only(STUB)
    }

    /// Whether all answers are canned.
    pub fn is_stub(&self) -> bool {
        self.usual.iter().any(|name| name == STUB)
    }

    /// What linking must know of it.
    pub fn answers(&self) -> AnswererNames {
        if self.usual.iter().any(|name| name == SCRIPT) { AnswererNames::Scripts } else { AnswererNames::Others }
    }
}

/// How it is recorded: a single name stands for itself.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RecordedVia {
    One(String),
    All {
        usual: Vec<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        nodes: BTreeMap<String, Vec<String>>,
    },
}

impl From<RecordedVia> for Via {
    fn from(written: RecordedVia) -> Self {
        match written {
            RecordedVia::One(name) => Self::only(&name),
            RecordedVia::All { usual, nodes } => Self { usual, nodes },
        }
    }
}

impl From<Via> for RecordedVia {
    fn from(via: Via) -> Self {
        match <[String; 1]>::try_from(via.usual) {
            Ok([name]) if via.nodes.is_empty() => Self::One(name),
            Ok([name]) => Self::All { usual: vec![name], nodes: via.nodes },
            Err(usual) => Self::All { usual, nodes: via.nodes },
        }
    }
}

/// Whether a run writes its files (case directories; the reports are always written).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// For up to 1 000 cases (`decisions.md` 53).
    #[default]
    Auto,
    /// However many cases there are.
    Always,
    /// Never.
    Never,
}

impl Files {
    /// Whether a run of that many cases writes case directories.
    pub fn writes(self, cases: usize) -> bool {
        match self {
            Self::Auto => cases <= 1000,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Refuses a var that looks like a secret: vars are recorded with the run and shown to agents.
pub fn refuse_secret(name: &str, value: &str) -> Result<(), SessionError> {
    if secrets_in(&format!("{name}={value}")).is_empty() {
        return Ok(());
    }
    let message = format!("the var `{name}` looks like a secret: vars are recorded with the run and shown to agents");
    let help = "rules and prompts need none; `secret:` and `env:` in asterisk.yaml tell agents and servers where theirs is";
    Err(SessionError::asked("config/secret", message, Some(help.to_owned())))
}
