//! What a run tells its front end while it goes on.

use super::run_batches::RunBatch;
use super::work::CaseWork;
use crate::diag::Diagnostics;
use crate::model::{Case, Launch};
use crate::walk::{Event, Plan, ReloadCause, TextChange, WalkStatus};
use std::sync::Arc;

/// A run that begins, or goes on.
pub struct StartedRun<'a> {
    /// Its id.
    pub run: &'a str,
    /// What its cases go by.
    pub plan: &'a Arc<Plan>,
    /// The launch; of a large run, with those of its cases alone that others are told of.
    pub launch: &'a Launch,
    /// How many cases it has.
    pub cases: usize,
    /// How many of them were over before.
    pub over: usize,
    /// The wave, the phase and the turn in it that it stands at, each counted from 1.
    pub stands: (u32, u32, u32),
}

impl<'a> StartedRun<'a> {
    pub(super) fn new(run: &'a str, plan: &'a Arc<Plan>, launch: &'a Launch, work: &[CaseWork], round: RunBatch) -> Self {
        let over = work.iter().filter(|case| matches!(case.status, WalkStatus::Done | WalkStatus::Error)).count();
        let stands = (round.wave, round.phase, round.turn);
        Self { run, plan, launch, cases: work.len(), over, stands }
    }
}

/// What a run tells its front end while it goes on. Called from many threads.
pub trait RunListener: Sync {
    /// What does not keep the run from going on but should be known.
    fn warnings(&self, _warnings: &Diagnostics) {}
    /// The run begins, or goes on.
    fn began(&self, _begun: &StartedRun<'_>) {}
    /// Something was recorded.
    fn event(&self, _event: &Event) {}
    /// The run goes by other texts from now on, each case from its next step.
    fn reloaded(&self, _reloaded: &AppliedReload) {}
    /// Other texts were offered that do not fit the graph that the run keeps: it goes on by those it has.
    fn kept(&self, _problems: &Diagnostics) {}
    /// The run goes on by the texts it has, though these are other by now.
    fn pinned(&self, _changed: &[TextChange]) {}
    /// The run was over before.
    fn over(&self) {}
    /// So many cases are about to walk as far as phase `phase` of `phases` lets them, counted from 1.
    fn phase(&self, _phase: usize, _phases: usize, _cases: usize) {}
    /// A launch is being fetched: so many of its failures have been read.
    fn fetched(&self, _done: usize, _of: usize) {}
    /// A case has walked as far as its phase lets it.
    fn case_went(&self, _case: &Case) {}
    /// A walk ended or stopped.
    fn case_over(&self, _case: &Case, _status: WalkStatus) {}
}

/// New texts that a run goes by.
#[derive(Clone, Debug)]
pub struct AppliedReload {
    /// Counts the texts of the run; those it began with are 1.
    pub generation: u64,
    /// Why.
    pub cause: ReloadCause,
    /// What is other than before.
    pub changed: Vec<TextChange>,
    /// Whether the graph of the pipeline changed too, which the run does not take: its cases keep theirs.
    pub graph_kept: bool,
}
