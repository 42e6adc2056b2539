//! The external requests of a step, recorded before anything leaves the process and reused when the walk is resumed.

use super::answer::Refusal;
use super::event::{Event, EventBody};
use super::journal::{Commit, Journal, JournalError};
use super::open_request::OpenRequest;
use super::step_log::StepStamp;
use asterisk_diag::Diagnostic;
use std::cell::RefCell;

/// What is recorded of a step while it is in progress.
pub(super) struct RequestLog<'a> {
    journal: &'a dyn Journal,
    watch: Option<&'a (dyn Fn(&Event) + Sync)>,
    stamp: StepStamp,
    pub(super) open: RefCell<Vec<OpenRequest>>,
    left: RefCell<StepRemainder>,
}

/// What a step in progress leaves in addition to its events.
#[derive(Debug, Default)]
pub(super) struct StepRemainder {
    /// The events recorded already.
    pub(super) recorded: Vec<Event>,
    /// Why one of them could not be recorded.
    pub(super) broken: Option<JournalError>,
    /// Whether the step is pending on an answer.
    pub(super) waits: bool,
}

impl<'a> RequestLog<'a> {
    /// The log of a step with these open requests.
    pub(super) fn new(
        journal: &'a dyn Journal,
        watch: Option<&'a (dyn Fn(&Event) + Sync)>,
        stamp: StepStamp,
        open: &[OpenRequest],
    ) -> Self {
        Self { journal, watch, stamp, open: RefCell::new(open.to_vec()), left: RefCell::default() }
    }

    pub(super) fn left(self) -> StepRemainder {
        self.left.into_inner()
    }

    /// Whether the step is pending on an answer.
    pub(super) fn waits(&self) -> bool {
        self.left.borrow().waits
    }

    pub(super) fn wait(&self) {
        self.left.borrow_mut().waits = true;
    }

    /// Records an event immediately.
    pub(super) fn record(&self, what: EventBody) -> Result<(), Refusal> {
        self.record_all(vec![what])
    }

    /// Records events immediately, all of them or none.
    pub(super) fn record_all(&self, all: Vec<EventBody>) -> Result<(), Refusal> {
        let events: Vec<Event> = all.into_iter().map(|what| self.stamp.event(what)).collect();
        let mut left = self.left.borrow_mut();
        if self.journal.keeps()
            && let Err(error) = self.journal.commit(Commit::of(events.clone()))
        {
            let refusal = Refusal::wait(Diagnostic::error("walk/journal", error.to_string()));
            left.broken = Some(error);
            return Err(refusal);
        }
        for event in events {
            OpenRequest::take(&mut self.open.borrow_mut(), &event);
            if let Some(watch) = self.watch {
                watch(&event);
            }
            left.recorded.push(event);
        }
        Ok(())
    }
}
