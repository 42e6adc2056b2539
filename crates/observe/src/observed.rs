//! The observers of a run, between the session and the front end.

use asterisk_base::clock::{Clock, Timestamp};
use asterisk_base::model::Case;
use asterisk_diag::Diagnostics;
use asterisk_session::{AppliedReload, RunListener, StartedRun};
use asterisk_walk::{Event, TextChange, WalkStatus};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Watches a run. `now` is the time of the call: for an event, that it is recorded.
pub trait Observer: Send {
    /// The run begins, or is resumed.
    fn began(&mut self, _begun: &StartedRun<'_>, _now: Timestamp) {}
    /// An event was recorded.
    fn event(&mut self, _event: &Event, _now: Timestamp) {}
    /// A walk ended or stopped.
    fn case_over(&mut self, _case: &Case, _status: WalkStatus, _now: Timestamp) {}
    /// The run has ended. Fails if anything could not be written.
    fn end(&mut self, now: Timestamp) -> io::Result<()>;
}

/// An observer, or an error message with a hint.
pub type MadeObserver = Result<Box<dyn Observer>, (String, String)>;

/// An observer with the option that requested it, for error messages.
pub struct Attached<'o> {
    /// `KIND` or `KIND=FILE`.
    pub name: String,
    pub observer: Box<dyn Observer + 'o>,
}

/// Forwards everything to a front end and to the observers.
pub struct ObserverFanout<'o> {
    front: &'o dyn RunListener,
    clock: Arc<dyn Clock>,
    observers: Mutex<Vec<Attached<'o>>>,
}

impl<'o> ObserverFanout<'o> {
    /// Attaches observers; `None` if there are none, so that a run without any has no overhead.
    pub fn over(front: &'o dyn RunListener, clock: &Arc<dyn Clock>, observers: Vec<Attached<'o>>) -> Option<Self> {
        (!observers.is_empty()).then(|| Self { front, clock: Arc::clone(clock), observers: observers.into() })
    }

    /// Ends the observers. Returns write errors, each with the name of its observer; they do not fail the run.
    pub fn end(self) -> Vec<(String, io::Error)> {
        let now = self.clock.now();
        let observers = self.observers.into_inner().unwrap_or_else(PoisonError::into_inner);
        observers.into_iter().filter_map(|mut one| Some((one.name, one.observer.end(now).err()?))).collect()
    }

    fn show(&self, show: impl Fn(&mut dyn Observer, Timestamp)) {
        let now = self.clock.now();
        let mut observers = self.observers.lock().unwrap_or_else(PoisonError::into_inner);
        observers.iter_mut().for_each(|one| show(&mut *one.observer, now));
    }
}

impl RunListener for ObserverFanout<'_> {
    fn warnings(&self, warnings: &Diagnostics) {
        self.front.warnings(warnings);
    }

    fn began(&self, begun: &StartedRun<'_>) {
        self.front.began(begun);
        self.show(|observer, now| observer.began(begun, now));
    }

    fn fetched(&self, done: usize, of: usize) {
        self.front.fetched(done, of);
    }

    fn event(&self, event: &Event) {
        self.front.event(event);
        self.show(|observer, now| observer.event(event, now));
    }

    fn reloaded(&self, reloaded: &AppliedReload) {
        self.front.reloaded(reloaded);
    }

    fn kept(&self, problems: &Diagnostics) {
        self.front.kept(problems);
    }

    fn pinned(&self, changed: &[TextChange]) {
        self.front.pinned(changed);
    }

    fn over(&self) {
        self.front.over();
    }

    fn phase(&self, phase: usize, phases: usize, cases: usize) {
        self.front.phase(phase, phases, cases);
    }

    fn case_went(&self, case: &Case) {
        self.front.case_went(case);
    }

    fn case_over(&self, case: &Case, status: WalkStatus) {
        self.front.case_over(case, status);
        self.show(|observer, now| observer.case_over(case, status, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::clock::FixedClock;

    struct NoWatch;
    impl RunListener for NoWatch {}

    #[test]
    fn without_observers_fanout_is_disabled() {
        let clock: Arc<dyn Clock> = Arc::new(FixedClock::new(Timestamp::from_millis(0), 1));
        assert!(ObserverFanout::over(&NoWatch, &clock, Vec::new()).is_none());
        assert_eq!((clock.now().millis(), Arc::strong_count(&clock)), (0, 1));
    }
}
