//! The one API for front ends and tools: link a project, run it over a launch, resume, decide one step, call one function.
//!
//! A file imports from its own line and those above it.
//!
//! ```text
//! error, setup, finding, run_batches, trim, worker_pool  shared by all others
//! input, texts, load, overlay_listing, test_texts, case_texts, labelled  reading projects, launches, tests and labelled cases
//! route, queries, runs, knowledge, dream, doctor, answer_file, briefing  single queries
//! run_settings, recorded, work, prompt  a run as it is stored
//! listener, migrate, portal, shadow, outcome, revisions, run_context  progress and result of a run
//! executor, projection, clean, dispatch, run_dir  walking cases, and the files of a run
//! answers, pending_batch, assembly, pending  answerers, and the assembly of a run
//! resume, run, labels  resuming and starting runs, labels from past ones
//! investigate  a run for a goal
//! ```

mod answer_file;
mod answers;
mod assembly;
mod briefing;
mod case_name;
mod case_texts;
mod clean;
mod dispatch;
mod distribution;
mod doctor;
mod dream;
mod error;
mod executor;
mod finding;
mod input;
mod investigate;
mod knowledge;
mod labelled;
mod labels;
mod listener;
mod load;
mod memories;
mod migrate;
mod outcome;
mod overlay_listing;
mod peers;
mod pending;
mod pending_batch;
mod portal;
mod projection;
mod prompt;
mod queries;
mod recorded;
pub mod reload;
mod resume;
mod revisions;
mod route;
mod run;
mod run_batches;
mod run_context;
mod run_dir;
mod run_settings;
mod runs;
mod setup;
mod shadow;
mod stages;
mod stores;
mod test_texts;
mod texts;
mod trim;
mod work;
mod worker_pool;

use asterisk_adapters::agent::{Approve, StepQueue};
pub use asterisk_store::JobFigures;
pub use case_name::case_named;
pub use clean::CleanResult;
pub use distribution::{JobEnd, WorkerHeartbeat, WorkerListener, WorkerSpec, WorkerSummary};
pub use doctor::{CheckResult, CheckState};
pub use dream::{DreamResult, DreamWording};
pub use error::SessionError;
pub use input::ReadReports;
pub use knowledge::{Knowledge, SymptomQuery};
pub use labelled::{
    CaseLocation, LabelSource, LabelledCase, LabelledCases, LocatedCase, alone, count_labelled, defect_code, masked,
};
pub use labels::PUSH_MARK;
pub use listener::{AppliedReload, RunListener, StartedRun};
pub use load::DEFAULT_PIPELINE;
pub use outcome::{CaseResult, CaseSummary, ConclusionSummary, ErrorSummary, RunCases, RunResult, RunSummary, Waits};
pub use overlay_listing::OverlaidFile;
pub use pending::{CheckedOutTasks, HUMAN, ReviewRequest, ReviewWord, Submission};
pub use pending_batch::{PendingBatch, PendingTask};
pub use portal::{PushRemark, PushResult};
pub use prompt::Prompt;
pub use recorded::{Record, RecordedTexts};
pub use resume::{ResumeSpec, RunOrigin};
pub use route::{RouteState, RouteVisit, Routed};
pub use run::{LaunchFiles, RunInputs, RunSpec};
pub use run_settings::{RunSettings, RunSources};
use serde_json::{Map, Value};
pub use setup::{AuditSettings, Files, KEEP, Setup, TextSettings, Via, refuse_secret};
pub use shadow::ShadowSummary;
pub use stages::StageSummary;
use std::path::PathBuf;
use std::sync::Arc;
pub use test_texts::{TestFile, TestTexts};
pub use texts::ProjectText;
pub use worker_pool::WorkerPool;

/// Investigates a launch: its file, the cases (all if none), the vars to use.
type LaunchInvestigation =
    fn(&Session, &std::path::Path, &[String], &Map<String, Value>, std::time::Duration) -> Result<String, String>;

/// A session: the setup, and every operation on it.
#[derive(Clone)]
pub struct Session {
    setup: Setup,
    queue: Option<Arc<StepQueue>>,
    approve: Option<Approve>,
    unconfined: bool,
    /// Investigates a launch for a goal.
    investigate: LaunchInvestigation,
}

impl Session {
    pub fn new(setup: Setup) -> Self {
        Self { setup, queue: None, approve: None, unconfined: false, investigate: investigate::investigate }
    }

    /// Adds masks, by path, on all nodes that they apply to. A file below the directory of scripts is known by its path there.
    #[must_use]
    pub fn with_masks(mut self, masks: &[PathBuf]) -> Self {
        let scripts = self.setup.texts.scripts.clone();
        let below = |mask: &PathBuf| {
            let inside = scripts
                .as_ref()
                .and_then(|dir| mask.canonicalize().ok()?.strip_prefix(dir.canonicalize().ok()?).ok().map(PathBuf::from));
            inside.as_ref().unwrap_or(mask).to_string_lossy().into_owned()
        };
        self.setup.texts.masks = masks.iter().map(below).collect();
        self
    }

    /// Replaces the pipeline's team by the one of that name.
    #[must_use]
    pub fn with_team(mut self, team: Option<&str>) -> Self {
        self.setup.texts.team = team.map(str::to_owned);
        self
    }

    /// Sets the queue that workers pull the steps of a run from.
    #[must_use]
    pub fn with_queue(mut self, queue: Arc<StepQueue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Sets who approves calls of tools that need a person's approval.
    #[must_use]
    pub fn with_approval(mut self, approve: Option<Approve>) -> Self {
        self.approve = approve;
        self
    }

    /// Sets whether commands are run that the system cannot confine.
    #[must_use]
    pub fn with_unconfined(mut self, unconfined: bool) -> Self {
        self.unconfined = unconfined;
        self
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }
}

#[cfg(test)]
#[global_allocator]
static MEMORY: asterisk_base::memory::Allocator = asterisk_base::memory::allocator();
