//! The observers of a run, between the session that tells and the front end that is told.

use crate::clock::{Clock, Timestamp};
use crate::diag::Diagnostics;
use crate::model::Case;
use crate::session::{AppliedReload, RunListener, StartedRun};
use crate::walk::{Event, TextChange, WalkStatus};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Looks on. `now` is when it is told: of an event, that it is recorded.
pub trait Observer: Send {
    /// The run begins, or goes on.
    fn began(&mut self, _begun: &StartedRun<'_>, _now: Timestamp) {}
    /// Something was recorded.
    fn event(&mut self, _event: &Event, _now: Timestamp) {}
    /// A walk ended or stopped.
    fn case_over(&mut self, _case: &Case, _status: WalkStatus, _now: Timestamp) {}
    /// There is nothing more to see. Fails if anything could not be written.
    fn end(&mut self, now: Timestamp) -> io::Result<()>;
}

/// An observer, or what is wrong with what was asked for, and what to do.
pub type MadeObserver = Result<Box<dyn Observer>, (String, String)>;

/// An observer with what it was asked for by, for complaints.
pub struct Attached<'o> {
    /// `KIND` or `KIND=FILE`.
    pub name: String,
    /// Who looks on.
    pub observer: Box<dyn Observer + 'o>,
}

/// Hands on to a front end all that it is told, and shows it to the observers.
pub struct ObserverFanout<'o> {
    front: &'o dyn RunListener,
    clock: Arc<dyn Clock>,
    observers: Mutex<Vec<Attached<'o>>>,
}

impl<'o> ObserverFanout<'o> {
    /// The observers of a run; nothing if there are none, so that a run without any does nothing for them.
    pub fn over(front: &'o dyn RunListener, clock: &Arc<dyn Clock>, observers: Vec<Attached<'o>>) -> Option<Self> {
        (!observers.is_empty()).then(|| Self { front, clock: Arc::clone(clock), observers: observers.into() })
    }

    /// Lets them finish. What could not be written comes back, each with the name of its observer: the run is none the worse.
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
    use crate::clock::FixedClock;

    struct NoWatch;
    impl RunListener for NoWatch {}

    #[test]
    fn without_observers_there_is_nothing_between_a_run_and_its_front_end() {
        let clock: Arc<dyn Clock> = Arc::new(FixedClock::new(Timestamp::from_millis(0), 1));
        assert!(ObserverFanout::over(&NoWatch, &clock, Vec::new()).is_none());
        assert_eq!((clock.now().millis(), Arc::strong_count(&clock)), (0, 1));
    }
}
