//! The texts that a run goes by may be exchanged while it goes on: a walk asks for them between two steps.

use super::event::{Event, EventBody};
use super::journal::JournalError;
use super::name::Name;
use super::plan::Plan;
use super::state::WalkState;
use crate::clock::Timestamp;
use crate::model::Hash;
use std::sync::Arc;

/// What a run goes by for a while: a plan over the run's graph, linked of one set of texts.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Counts from [`FIRST`].
    pub number: u64,
    /// The address of the list of the texts.
    pub manifest: Hash,
    /// What was linked of them. Nodes and edges are those of every other generation of the run.
    pub plan: Arc<Plan>,
}

/// Where walks learn what to go by.
pub trait RevisionSource: Send + Sync {
    /// The generation in force. It is recorded before anybody gets it.
    fn current(&self) -> Result<Arc<Revision>, JournalError>;

    /// Whether a generation is still in force. Asked before every step.
    fn in_force(&self, number: u64) -> bool;
}

impl Revision {
    /// The event by which a case takes this generation at a step, unless it goes by it already.
    pub(super) fn adoption(&self, state: &WalkState, case: &Name, path: Name, at: Timestamp) -> Option<Event> {
        let what = EventBody::Adopt { generation: self.number, manifest: self.manifest };
        (state.generation != self.number).then(|| Event { case: case.clone(), path, at, what })
    }
}
