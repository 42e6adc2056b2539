//! What all parts of a run share while it is executed.

use super::Session;
use super::listener::RunListener;
use super::run_settings::RunSettings;
use super::work::CaseReader;
use super::worker_pool::WorkerPool;
use asterisk_adapters::agent::{SubmittedAnswer, TokenBudget};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Launch;
use asterisk_files::FileIdentity;
use asterisk_project::Project;
use asterisk_store::{RunJournal, Store};
use std::sync::atomic::AtomicBool;

/// A run being executed. New and resumed runs differ in where their cases come from only.
pub(super) struct RunContext<'a> {
    pub(super) session: &'a Session,
    pub(super) settings: RunSettings,
    pub(super) journal: RunJournal,
    /// The identity of the store's file when it was opened; `None` for a private store.
    pub(super) identity: Option<FileIdentity>,
    pub(super) started_at: Timestamp,
    pub(super) launch: Launch,
    /// The project of candidate rules, evaluated next to those of the run, if it has a shadow.
    pub(super) candidate: Option<Project>,
    pub(super) budget: TokenBudget,
    /// A submitted answer: other pending cases are left as they are.
    pub(super) given: Option<SubmittedAnswer>,
    pub(super) pool: WorkerPool,
    /// Whether cases and their states stay in memory between batches.
    pub(super) keep: bool,
    /// Whether the run begins: the launch is whole, and every case of it will be walked.
    pub(super) fresh: bool,
    /// Whether the run is stored and may write files: a dry run is not.
    pub(super) recorded: bool,
    pub(super) walked_by: WalkedBy,
    pub(super) watch: &'a dyn RunListener,
    pub(super) stop: &'a AtomicBool,
}

/// Who walks the cases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkedBy {
    ThisProcess,
    /// Processes that take jobs from the store (`asterisk worker`).
    Workers,
}

impl From<bool> for WalkedBy {
    fn from(distribute: bool) -> Self {
        if distribute { Self::Workers } else { Self::ThisProcess }
    }
}

impl RunContext<'_> {
    /// The id of the run.
    pub(super) fn id(&self) -> &str {
        self.journal.run()
    }

    pub(super) fn store(&self) -> &Store {
        self.journal.store()
    }

    /// Whether the stages of its cases, and the cases, have files.
    pub(super) fn has_files(&self) -> bool {
        self.recorded && self.settings.files.writes(self.launch.cases.len())
    }

    /// The reader of cases that are not kept in memory.
    pub(super) fn cases<'s>(&'s self, project: &'s Project) -> CaseReader<'s> {
        CaseReader { store: self.store(), run: self.id(), plan: &project.plan }
    }
}
