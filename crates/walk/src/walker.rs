//! The walker: what all walks of a run share.

use super::answerer::Answerer;
use super::event::Event;
use super::journal::Journal;
use super::name::Name;
use super::params::CaseParams;
use super::plan::Plan;
use super::queries::Queries;
use super::revisions::RevisionSource;
use super::team_plan::TeamMember;
use asterisk_base::clock::{Clock, Timestamp};
use asterisk_base::model::{Case, Launch};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// Walks cases along a plan. Cheap to make; holds no state of a case.
#[derive(Clone, Copy)]
pub struct Walker<'a> {
    /// The plan; with `plans`, only its graph is used.
    pub plan: &'a Plan,
    /// Candidate rules, evaluated next to every decision and never followed.
    pub shadow: Option<&'a Plan>,
    /// The source of newer revisions, if texts may be reloaded.
    pub plans: Option<&'a dyn RevisionSource>,
    /// The walker of steps whose plan does not configure a team: in a sub-pipeline, that of the enclosing step.
    pub inherited: Option<&'a TeamMember>,
    pub answer: &'a dyn Answerer,
    pub needs: &'a dyn Queries,
    /// Where every step is recorded.
    pub journal: &'a dyn Journal,
    pub clock: &'a dyn Clock,
    /// When this process took the cases up: what passed before counts against no deadline.
    pub since: Timestamp,
    /// The run's id.
    pub run: &'a str,
    /// Seeds `state.chance`.
    pub seed: u64,
    pub launch: &'a Launch,
    /// The last phase that may be entered now, counted from 0: a case that would enter a later one waits.
    pub until: usize,
    /// The most nodes of a pipeline without edges that run at once.
    pub parallel: usize,
    /// Once true, walks stop after the current step.
    pub stop: &'a AtomicBool,
    /// Called with every event once it is recorded.
    pub watch: Option<&'a (dyn Fn(&Event) + Sync)>,
}

/// The case of a walk.
#[derive(Clone, Copy)]
pub(super) struct WalkOwner<'a> {
    pub(super) case: &'a Case,
    pub(super) name: &'a Name,
    /// Converted when the first node of the case reads its parameters.
    pub(super) params: &'a OnceLock<CaseParams>,
}
