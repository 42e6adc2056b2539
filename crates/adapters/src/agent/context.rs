//! Shared context of external answerers.

use super::batch::BriefingWriter;
use super::budget::{SpentListener, TokenBudget};
use super::queue::StepQueue;
use super::run_dir::RunDir;
use super::settings::Agents;
use super::tools::Servers;
use crate::net::{OWN, SecretReader};
use asterisk_base::clock::Clock;
use asterisk_base::environment::Variables;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Creates the run's directory below the given one, or in the default output directory.
pub type RunDirFactory<'a> = dyn Fn(Option<&Path>) -> Option<Arc<dyn RunDir>> + 'a;

/// Asks a person whether a call may be made.
pub type Approve = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Investigates the failures of a launch, given its file, the cases (all if none), the vars to use, and how long it may take. Returns what
/// was found as JSON, or why nothing was.
pub type Investigate<'a> =
    Arc<dyn Fn(&Path, &[String], &Map<String, Value>, Duration) -> Result<String, String> + Send + Sync + 'a>;

/// What external answerers need from the session.
pub struct ExternalContext<'a> {
    /// Queue that workers pull steps from, if they are served.
    pub queue: Option<Arc<StepQueue>>,
    /// The configured agents.
    pub agents: &'a Agents,
    /// Reads secrets.
    pub secret: SecretReader,
    /// The program's file, to start it again.
    pub program: &'a Path,
    /// MCP servers whose tools nodes may call.
    pub servers: &'a Servers,
    /// Environment variables with secrets; a command receives only its own.
    pub withheld: BTreeSet<String>,
    /// Working directory of commands.
    pub root: &'a Path,
    /// The project's own texts, which tools do not write.
    pub texts: Vec<PathBuf>,
    /// What tools neither read nor write: the store, the runs, the auditor's files.
    pub private: Vec<PathBuf>,
    /// Whether the run is recorded. Tools are not called in one that is not.
    pub recorded: bool,
    /// Asks a person about the calls that the judge leaves to one; without it, they are not made.
    pub approve: Option<Approve>,
    /// Whether commands are run that the system cannot confine.
    pub unconfined: bool,
    /// Investigates launches for a goal.
    pub investigate: Option<Investigate<'a>>,
    /// Clock.
    pub clock: &'a dyn Clock,
    /// Set when the run stops; nothing blocks any longer.
    pub stop: &'a AtomicBool,
    /// The token budget.
    pub budget: &'a TokenBudget,
    /// Called when tokens were spent.
    pub spent: Arc<SpentListener<'a>>,
    /// Creates directories for prompts: below the given directory, or in the default output directory. Returns `None` if the run writes no
    /// files.
    pub run_dir: Box<RunDirFactory<'a>>,
    /// The run's directory, absolute, if the run writes files.
    pub run_files: Option<PathBuf>,
    /// Renders the briefing of a batch.
    pub brief: Arc<BriefingWriter<'a>>,
}

impl ExternalContext<'_> {
    /// The variables that a command receives: none with secrets, but for the one that is its `own`.
    pub(super) fn variables(&self, own: Option<&str>) -> Variables {
        let withheld = |name: &str| OWN.contains(&name) || (self.withheld.contains(name) && own != Some(name));
        self.secret.variables.without(withheld)
    }
}
