//! What agents outside of the process need.

use super::batch::BriefingWriter;
use super::budget::{BudgetStatus, TokenBudget};
use super::queue::StepQueue;
use super::run_dir::RunDir;
use super::settings::Agents;
use super::tools::Servers;
use crate::clock::Clock;
use crate::net::ReadSecret;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes the directory of a run below another, or where runs write.
pub type RunDirFactory<'a> = dyn Fn(Option<&Path>) -> Option<Arc<dyn RunDir>> + 'a;

/// What those outside need.
pub struct ExternalContext<'a> {
    /// Where workers pull steps from, if they are served.
    pub queue: Option<Arc<StepQueue>>,
    /// Who there is.
    pub agents: &'a Agents,
    /// Reads secrets in files.
    pub secret: ReadSecret,
    /// The servers whose tools nodes may call.
    pub servers: &'a Servers,
    /// The variables that hold secrets: a command is told its own alone.
    pub withheld: BTreeSet<String>,
    /// Where commands run.
    pub root: &'a Path,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Once true, nobody waits any longer.
    pub stop: &'a AtomicBool,
    /// What may be spent.
    pub budget: &'a TokenBudget,
    /// Is told when something was spent.
    pub spent: Arc<dyn Fn(&BudgetStatus) + Send + Sync + 'a>,
    /// Where prompts are laid out: below that directory, or where runs write. Nothing if nothing is written.
    pub tray: Box<RunDirFactory<'a>>,
    /// Writes the briefing of a batch.
    pub brief: Arc<BriefingWriter<'a>>,
}
