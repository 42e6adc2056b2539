//! The events of a step in progress.

use super::event::{Event, EventBody};
use super::name::Name;
use asterisk_base::clock::Timestamp;

/// The data that all events of a step share.
#[derive(Clone)]
pub(super) struct StepStamp {
    pub(super) case: Name,
    pub(super) path: Name,
    pub(super) at: Timestamp,
}

/// The events of a step, in order.
pub(super) struct StepLog {
    pub(super) stamp: StepStamp,
    pub(super) events: Vec<Event>,
}

impl StepStamp {
    pub(super) fn event(&self, what: EventBody) -> Event {
        Event { case: self.case.clone(), path: self.path.clone(), at: self.at, what }
    }
}

impl StepLog {
    pub(super) fn new(stamp: StepStamp) -> Self {
        Self { stamp, events: Vec::with_capacity(5) }
    }

    pub(super) fn push(&mut self, what: EventBody) {
        self.events.push(self.stamp.event(what));
    }
}
