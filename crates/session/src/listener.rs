//! Progress of a run, reported to its front end.

use super::run_batches::RunBatch;
use super::work::CaseWork;
use asterisk_base::model::{Case, Launch};
use asterisk_diag::Diagnostics;
use asterisk_store::JobFigures;
use asterisk_walk::{Event, Plan, ReloadCause, TextChange, WalkStatus};
use std::sync::Arc;

/// A run that begins or is resumed.
pub struct StartedRun<'a> {
    pub run: &'a str,
    pub plan: &'a Arc<Plan>,
    /// The launch; of a large run, only the cases that are visible to others.
    pub launch: &'a Launch,
    /// The number of cases.
    pub cases: usize,
    /// The number of cases that were over before.
    pub over: usize,
    /// The current wave, phase, and turn within it, each from 1.
    pub stands: (u32, u32, u32),
}

impl<'a> StartedRun<'a> {
    pub(super) fn new(run: &'a str, plan: &'a Arc<Plan>, launch: &'a Launch, work: &[CaseWork], batch: RunBatch) -> Self {
        let over = work.iter().filter(|case| matches!(case.status, WalkStatus::Done | WalkStatus::Error)).count();
        let stands = (batch.wave, batch.phase, batch.turn);
        Self { run, plan, launch, cases: work.len(), over, stands }
    }
}

/// Receives the progress of a run. Called from many threads.
pub trait RunListener: Sync {
    /// Warnings that don't stop the run.
    fn warnings(&self, _warnings: &Diagnostics) {}
    /// The run begins or is resumed.
    fn began(&self, _begun: &StartedRun<'_>) {}
    /// An event was recorded.
    fn event(&self, _event: &Event) {}
    /// A revision of the texts takes effect, for each case from its next step.
    fn reloaded(&self, _reloaded: &AppliedReload) {}
    /// A revision was rejected because it does not fit the graph of the run, which continues with its texts.
    fn kept(&self, _problems: &Diagnostics) {}
    /// The run continues with its recorded texts, though the project's have changed.
    fn pinned(&self, _changed: &[TextChange]) {}
    /// The run was over before.
    fn over(&self) {}
    /// `cases` cases are about to walk up to phase `phase` of `phases`, counted from 1.
    fn phase(&self, _phase: usize, _phases: usize, _cases: usize) {}
    /// A launch is being fetched: `done` of `of` failures have been read.
    fn fetched(&self, _done: usize, _of: usize) {}
    /// Cases were handed out to workers, and stand like this. `alive` counts the workers that take jobs.
    fn handed_out(&self, _jobs: &JobFigures, _alive: &dyn Fn() -> usize) {}
    /// A case has walked as far as its phase allows.
    fn case_went(&self, _case: &Case) {}
    /// A walk ended or stopped.
    fn case_over(&self, _case: &Case, _status: WalkStatus) {}
}

/// Ignores the progress.
impl RunListener for () {}

/// A revision of the texts that a run has taken.
#[derive(Clone, Debug)]
pub struct AppliedReload {
    /// The revision; the run begins with 1.
    pub revision: u64,
    pub cause: ReloadCause,
    /// What differs from the previous revision.
    pub changed: Vec<TextChange>,
    /// Whether the pipeline's graph changed too, which the run does not take.
    pub graph_kept: bool,
}
