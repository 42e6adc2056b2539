//! The schedule of cases: waves of leaders and followers, phases, and clusters within a phase.

use asterisk_pipeline::Pipeline;
use asterisk_walk::{Event, EventBody, WalkState, WalkStatus};
use std::collections::HashSet;

/// The number of waves: the first case of each recall key, then the others.
const WAVES: u32 = 2;

/// A batch of a run: the cases of a wave walk as far as a phase allows. Each begins with a barrier, which makes visible what was
/// committed before. Counted from 1, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunBatch {
    pub(super) wave: u32,
    pub(super) phase: u32,
    /// 2 for the members of clusters, which wait for their representative; 1 for all other cases.
    pub(super) turn: u32,
}

impl RunBatch {
    pub(super) const FIRST: Self = Self { wave: 1, phase: 1, turn: 1 };

    /// The batch that the barriers of a run have led to.
    pub(super) fn after(events: &[(i64, Event)]) -> Self {
        let barrier = |(_, event): &(i64, Event)| match event.what {
            EventBody::Barrier { wave, phase, turn, .. } => Some(Self { wave, phase, turn }),
            _ => None,
        };
        events.iter().rev().find_map(barrier).unwrap_or(Self::FIRST)
    }

    /// The next batch; `None` after the last.
    pub(super) fn next(self, pipeline: &Pipeline) -> Option<Self> {
        let Self { wave, phase, turn } = self;
        if turn == 1 && pipeline.clusters.as_ref().is_some_and(|clusters| clusters.phase == self.limit()) {
            Some(Self { turn: 2, ..self })
        } else if (phase as usize) < pipeline.phases {
            Some(Self { phase: phase + 1, turn: 1, ..self })
        } else {
            (wave < WAVES).then_some(Self { wave: wave + 1, phase: 1, turn: 1 })
        }
    }

    /// The last phase that may be entered, counted from 0.
    pub(super) fn limit(self) -> usize {
        (self.phase as usize).saturating_sub(1)
    }

    /// Whether clusters are formed at its beginning.
    pub(super) fn forms_clusters(self, pipeline: &Pipeline) -> bool {
        self.turn == 1 && pipeline.clusters.as_ref().is_some_and(|clusters| clusters.phase == self.limit())
    }
}

/// The position of a case in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CaseSchedule {
    /// 1 for the first case of its recall key, 2 for the others.
    pub(super) wave: u32,
    /// Its turn in the phase that clusters are formed for.
    pub(super) turn: u32,
    /// The phase of the next node, counted from 0; `None` if the walk is over.
    pub(super) phase: Option<u32>,
}

impl CaseSchedule {
    /// Whether it walks in a batch.
    pub(super) fn walks(self, batch: RunBatch, pipeline: &Pipeline) -> bool {
        let turn = if pipeline.clusters.as_ref().is_some_and(|clusters| clusters.phase == batch.limit()) { self.turn } else { 1 };
        self.wave == batch.wave && turn == batch.turn && self.phase.is_some_and(|phase| phase < batch.phase)
    }
}

/// The wave of each case: the first case of each recall key leads, the others follow. A case without a key leads.
pub(super) fn waves<'k>(keys: impl IntoIterator<Item = &'k str>) -> Vec<u32> {
    let mut led = HashSet::new();
    keys.into_iter().map(|key| if key.is_empty() || led.insert(key) { 1 } else { 2 }).collect()
}

/// The phase of the next node of a walk; `None` if it is over.
pub(super) fn phase_of(state: &WalkState, pipeline: &Pipeline) -> Option<u32> {
    if matches!(state.status, WalkStatus::Done | WalkStatus::Error) {
        return None;
    }
    // A node that the pipeline lacks fails the walk when it is resumed.
    let node = match &state.node {
        None => Some(pipeline.start),
        Some(name) => pipeline.node(name),
    };
    // There are no more phases than nodes.
    Some(node.map_or(0, |node| u32::try_from(pipeline.at(node).phase).unwrap_or(u32::MAX)))
}
