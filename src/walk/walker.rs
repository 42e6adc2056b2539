//! What takes cases along a plan: the parts of a run that every walk of it shares.

use super::answerer::Answerer;
use super::event::Event;
use super::journal::Journal;
use super::name::Name;
use super::params::CaseParams;
use super::plan::Plan;
use super::queries::Queries;
use super::revisions::RevisionSource;
use super::team_plan::TeamMember;
use crate::clock::Clock;
use crate::model::{Case, Launch};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// Takes cases along a plan. Cheap to make; holds nothing of a case.
#[derive(Clone, Copy)]
pub struct Walker<'a> {
    /// What to go by; with `plans`, what the walk's graph is.
    pub plan: &'a Plan,
    /// Candidate rules, asked beside every decision and never followed.
    pub shadow: Option<&'a Plan>,
    /// Where newer texts come from, if they may be exchanged.
    pub plans: Option<&'a dyn RevisionSource>,
    /// Who walks where the plan has no team, if not the walker without a name: of a walk within a walk, whoever takes the step around it.
    pub inherited: Option<&'a TeamMember>,
    /// Who answers the nodes.
    pub answer: &'a dyn Answerer,
    /// The bounded reads.
    pub needs: &'a dyn Queries,
    /// Where every step is recorded.
    pub journal: &'a dyn Journal,
    /// The time.
    pub clock: &'a dyn Clock,
    /// The run's id.
    pub run: &'a str,
    /// Seeds `state.chance`.
    pub seed: u64,
    /// The launch the cases are of.
    pub launch: &'a Launch,
    /// The last phase that may be entered now, counted from 0: a case that would enter a later one waits.
    pub until: usize,
    /// Once true, walks stop after the step they are in.
    pub stop: &'a AtomicBool,
    /// Is shown every event once it is recorded.
    pub watch: Option<&'a (dyn Fn(&Event) + Sync)>,
}

/// The case of a walk.
#[derive(Clone, Copy)]
pub(super) struct WalkOwner<'a> {
    pub(super) case: &'a Case,
    pub(super) name: &'a Name,
    /// Converted when the first node of the case asks for its parameters.
    pub(super) params: &'a OnceLock<CaseParams>,
}
