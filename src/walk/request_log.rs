//! The requests of a step, recorded before anything leaves the process and taken up again when the walk goes on.

use super::answer::Refusal;
use super::event::{Event, EventBody};
use super::journal::{Commit, Journal, JournalError};
use super::open_request::OpenRequest;
use super::step_log::StepStamp;
use crate::diag::Diagnostic;
use std::cell::RefCell;

/// What of a step is recorded while it is being taken.
pub(super) struct RequestLog<'a> {
    journal: &'a dyn Journal,
    watch: Option<&'a (dyn Fn(&Event) + Sync)>,
    stamp: StepStamp,
    pub(super) open: RefCell<Vec<OpenRequest>>,
    left: RefCell<StepRemainder>,
}

/// What is left of a step that was being taken, beside its events.
#[derive(Debug, Default)]
pub(super) struct StepRemainder {
    /// The events that are recorded already.
    pub(super) recorded: Vec<Event>,
    /// Why one of them could not be recorded.
    pub(super) broken: Option<JournalError>,
    /// Whether the step waits for an answer.
    pub(super) waits: bool,
}

impl<'a> RequestLog<'a> {
    /// The log of a step of which these requests are open.
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

    pub(super) fn wait(&self) {
        self.left.borrow_mut().waits = true;
    }

    /// Records an event at once.
    pub(super) fn record(&self, what: EventBody) -> Result<(), Refusal> {
        let event = self.stamp.event(what);
        let mut left = self.left.borrow_mut();
        if self.journal.keeps()
            && let Err(error) = self.journal.commit(Commit::of(vec![event.clone()]))
        {
            let refusal = Refusal::wait(Diagnostic::error("walk/journal", error.to_string()));
            left.broken = Some(error);
            return Err(refusal);
        }
        OpenRequest::take(&mut self.open.borrow_mut(), &event);
        if let Some(watch) = self.watch {
            watch(&event);
        }
        left.recorded.push(event);
        Ok(())
    }
}
