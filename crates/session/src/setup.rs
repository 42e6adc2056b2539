//! The setup of a session, given by its front end.

use super::SessionError;
use asterisk_adapters::agent::{Agents, AnswererKind, STUB, Servers, Variable};
use asterisk_adapters::audit::older_dir;
use asterisk_adapters::net::{SecretReader, SecretSource};
use asterisk_adapters::reportportal;
use asterisk_base::clock::Clock;
use asterisk_base::environment::Environment;
use asterisk_diag::secrets_in;
use asterisk_files::UnsavedTexts;
use asterisk_project::{AnswererNames, ProjectVars, SCRIPT, VarPlaces};
use asterisk_store::StoreLocation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The script that dreams call by its name.
pub(super) const MEMORY_SCRIPT: &str = "lib/memory.rhai";

/// The default of [`Setup::keep`].
pub const KEEP: usize = 2000;

/// Directories and settings that apply to everything a session does.
#[derive(Clone)]
pub struct Setup {
    /// The project's directory; relative paths of its repositories are relative to it.
    pub root: PathBuf,
    /// Where the store is.
    pub store: StoreLocation,
    /// The output root of runs.
    pub out: PathBuf,
    /// A directory overlaid on the bundled pipelines.
    pub pipelines: Option<PathBuf>,
    /// A directory overlaid on the bundled templates.
    pub templates: Option<PathBuf>,
    /// What its runs are recorded with.
    pub texts: TextSettings,
    /// The places where vars are set, where known.
    pub set_places: VarPlaces,
    /// Vars of the project file, for the pipelines that have them.
    pub project_vars: ProjectVars,
    /// The repositories of the project file: `{ "repositories": [{name, path, purpose, branch}] }`.
    pub workspace: Value,
    /// The configured agents, by name.
    pub agents: Agents,
    pub reportportal: reportportal::PortalSettings,
    /// The servers whose tools nodes may call, by name.
    pub servers: Servers,
    /// The time that one script call may take; the default if `None`.
    pub script_time: Option<Duration>,
    /// The most cases of a run kept in memory; of a larger run, each is read from the journal whenever it is needed.
    pub keep: usize,
    /// The address of the CI job that this process runs in, for launches that don't name theirs.
    pub job_url: Option<String>,
    pub clock: Arc<dyn Clock>,
    /// Texts that an editor has not saved.
    pub unsaved: Arc<UnsavedTexts>,
    /// The auditor of goals: its log, and the file of its rules if the operator has rules of their own.
    pub audit: AuditSettings,
    /// Where the session's variables, standard input and program are from.
    pub environment: Environment,
}

/// The scripts that a session and its runs use, and what they are linked with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TextSettings {
    /// A directory overlaid on the bundled scripts.
    pub scripts: Option<PathBuf>,
    /// Vars set for this command; the pipeline must have them.
    pub vars: Map<String, Value>,
    /// The domain, by name; the default one if `None`.
    pub domain: Option<String>,
    /// Masks for all nodes that they apply to, by path (`masks/recall.rhai`).
    pub masks: Vec<String>,
    /// The team that replaces the pipeline's, by its name in the data file `teams`.
    pub team: Option<String>,
}

impl TextSettings {
    /// Completes them with those of a run.
    pub(super) fn complete(&mut self, run: &Self) {
        let Self { scripts, vars, domain, masks, team } = run.clone();
        self.scripts = self.scripts.take().or(scripts);
        self.domain = self.domain.take().or(domain);
        self.team = self.team.take().or(team);
        if self.masks.is_empty() {
            self.masks = masks;
        }
        let own = std::mem::replace(&mut self.vars, vars);
        self.vars.extend(own);
    }
}

/// The auditor's files.
#[derive(Clone, Debug, Default)]
pub struct AuditSettings {
    /// The log.
    pub log: PathBuf,
    /// The operator's rules; the bundled ones if `None`.
    pub rules: Option<PathBuf>,
}

impl Setup {
    /// Whether an answerer that a run names takes requests in batches.
    pub fn answers_in_batches(&self, via: &Via) -> bool {
        let is_batched = |name: &String| {
            self.agents.get(name).map_or(name == AnswererKind::BatchFile.name(), |agent| agent.kind == AnswererKind::BatchFile)
        };
        via.nodes.values().chain([&via.usual]).flatten().any(is_batched)
    }

    /// A directory without settings: bundled texts only, no agents. The store is its `store.db`, and runs are written to `out`.
    pub fn bare(root: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            store: root.join("store.db").into(),
            out: root.join("out"),
            root,
            pipelines: None,
            templates: None,
            texts: TextSettings::default(),
            set_places: VarPlaces::new(),
            project_vars: ProjectVars::new(),
            workspace: json!({ "repositories": [] }),
            agents: Agents::new(),
            reportportal: reportportal::PortalSettings::default(),
            servers: Servers::new(),
            script_time: None,
            keep: KEEP,
            job_url: None,
            clock,
            unsaved: Arc::default(),
            audit: AuditSettings::default(),
            environment: Environment::default(),
        }
    }

    /// With another directory overlaid on the bundled scripts.
    #[must_use]
    pub fn with_scripts(mut self, scripts: &Path) -> Self {
        self.texts.scripts = Some(scripts.to_owned());
        self
    }

    /// The project's sources, including those that do not exist yet, and what is private: the store, the runs, the auditor's
    /// files. Tools of goals change none of them.
    pub(super) fn own_files(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let usual = ["asterisk.yaml", "scripts", "pipelines", "templates"].map(|name| self.root.join(name));
        let named = [&self.texts.scripts, &self.pipelines, &self.templates].into_iter().flatten().cloned();
        let beside = |path: &Path, suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
        let of_file = |store: &Path| ["", "-wal", "-shm"].map(|suffix| beside(store, suffix));
        let store = self.store.path().into_iter().flat_map(of_file);
        let log = [self.audit.log.clone(), older_dir(&self.audit.log)].map(Some);
        let audit = log.into_iter().chain([self.audit.rules.clone()]).flatten();
        let private = store.into_iter().chain([self.root.join(".asterisk"), self.out.clone()]).chain(audit);
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        (usual.into_iter().chain(named).map(whole).collect(), private.map(whole).collect())
    }

    /// Reads secrets: a variable, or a file, which only its owner may be able to read.
    pub(super) fn secrets(&self) -> SecretReader {
        let file = |path: &Path| asterisk_files::read_secret(path).map_err(|error| error.to_string());
        SecretReader { variables: self.environment.variables().clone(), file }
    }

    /// The environment variables that hold secrets of agents, servers and `ReportPortal`.
    pub(super) fn secret_variables(&self) -> BTreeSet<String> {
        let of_agents = self.agents.values().filter_map(|agent| agent.secret.as_ref());
        let of_servers = self.servers.values().flat_map(|server| {
            let variables =
                server.env.values().filter_map(|one| if let Variable::Secret(secret) = one { Some(secret) } else { None });
            variables.chain(&server.secret)
        });
        let all = of_agents.chain(of_servers).chain(&self.reportportal.token);
        let named = all.filter_map(|secret| if let SecretSource::Env(name) = secret { Some(name.clone()) } else { None });
        // No answerer learns where the auditor writes.
        named.chain(["ASTERISK_AUDIT_LOG", "ASTERISK_AUDITOR"].map(str::to_owned)).collect()
    }
}

/// The answerers of a run, for nodes that name none themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RecordedVia", into = "RecordedVia")]
pub struct Via {
    /// In the order to be tried: `script`, `stub`, `manual`, or names of `agents:`.
    pub usual: Vec<String>,
    /// By node name; overrides the pipeline.
    pub nodes: BTreeMap<String, Vec<String>>,
}

impl Default for Via {
    fn default() -> Self {
        Self::only(SCRIPT)
    }
}

impl Via {
    /// A single answerer.
    pub fn only(name: &str) -> Self {
        Self { usual: vec![name.to_owned()], nodes: BTreeMap::new() }
    }

    /// Canned answers.
    pub fn stub() -> Self {
        Self::only(STUB)
    }

    /// Whether all answers are canned.
    pub fn is_stub(&self) -> bool {
        self.usual.iter().any(|name| name == STUB)
    }

    /// The names that linking checks.
    pub fn answers(&self) -> AnswererNames {
        if self.usual.iter().any(|name| name == SCRIPT) { AnswererNames::Scripts } else { AnswererNames::Others }
    }
}

/// The recorded form: a string for a single name.
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
    /// For up to 1 000 cases (`docs/decisions/0014-private-run-directories.md`).
    Auto,
    Always,
    #[default]
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
    let help = "rules and prompts need no secrets; use `secret:` and `env:` in asterisk.yaml for agents and servers";
    Err(SessionError::bad_request("config/secret", message, Some(help.to_owned())))
}
