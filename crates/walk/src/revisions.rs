//! Revisions: the sources of a run may be reloaded during it, and take effect between two steps.

use super::event::{Event, EventBody};
use super::journal::JournalError;
use super::name::Name;
use super::plan::Plan;
use super::state::WalkState;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use std::sync::Arc;

/// A plan over the run's graph, linked from one revision of the texts.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Counts from [`FIRST`].
    pub number: u64,
    /// The address of the manifest of its texts.
    pub manifest: Hash,
    /// The linked plan. Nodes and edges are those of every other revision of the run.
    pub plan: Arc<Plan>,
}

/// Provides walks with the current revision.
pub trait RevisionSource: Send + Sync {
    /// The current revision. It is recorded before it is returned.
    fn current(&self) -> Result<Arc<Revision>, JournalError>;

    /// Whether a revision is still current. Checked before every step.
    fn is_current(&self, number: u64) -> bool;
}

impl Revision {
    /// The event by which a case upgrades to this revision at a step, unless it has it already.
    pub(super) fn upgrade_event(&self, state: &WalkState, case: &Name, path: Name, at: Timestamp) -> Option<Event> {
        let what = EventBody::Upgraded { revision: self.number, manifest: self.manifest };
        (state.revision != self.number).then(|| Event { case: case.clone(), path, at, what })
    }
}
