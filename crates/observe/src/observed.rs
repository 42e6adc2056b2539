//! The observers of a run, between the session and the front end.

use super::journal_events::JournalEvents;
use asterisk_base::clock::{Clock, Timestamp};
use asterisk_base::model::Case;
use asterisk_diag::Diagnostics;
use asterisk_session::{AppliedReload, JobFigures, RunListener, StartedRun};
use asterisk_walk::{Event, TextChange, WalkStatus};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::dispatcher::{Dispatch, with_default};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Layer, SubscriberExt as _};

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

/// A layer of a run's subscriber.
pub type TracingLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// An observer with its layer, if it has one.
pub type MadeObserver = (Box<dyn Observer>, Option<TracingLayer>);

/// An observer, or an error message with a hint.
pub type TriedObserver = Result<MadeObserver, (String, String)>;

/// An observer with the option that requested it, for error messages.
pub struct Attached {
    /// `KIND` or `KIND=FILE`.
    pub name: String,
    pub observer: Box<dyn Observer>,
    pub layer: Option<TracingLayer>,
}

/// Forwards everything to a front end and to the observers.
pub struct ObserverFanout<'o> {
    front: &'o dyn RunListener,
    clock: Arc<dyn Clock>,
    observers: Mutex<Vec<(String, Box<dyn Observer>)>>,
    /// The subscriber of the run, with the layers of all observers.
    dispatch: Dispatch,
}

impl<'o> ObserverFanout<'o> {
    /// Attaches observers; `None` if there are none, so that a run without any has no overhead.
    pub fn over(front: &'o dyn RunListener, clock: &Arc<dyn Clock>, attached: Vec<Attached>) -> Option<Self> {
        if attached.is_empty() {
            return None;
        }
        let (mut observers, mut layers) = (Vec::new(), Vec::new());
        for Attached { name, observer, layer } in attached {
            observers.push((name, observer));
            layers.extend(layer);
        }
        let mut dispatch = Dispatch::none();
        if !layers.is_empty() {
            observers.push((String::new(), Box::new(JournalEvents::default())));
            dispatch = Dispatch::new(Registry::default().with(layers));
        }
        Some(Self { front, clock: Arc::clone(clock), observers: observers.into(), dispatch })
    }

    /// Does the work of a run, whose spans and events are observed.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        with_default(&self.dispatch, work)
    }

    /// Ends the observers. Returns write errors, each with the name of its observer; they do not fail the run.
    pub fn end(self) -> Vec<(String, io::Error)> {
        let now = self.clock.now();
        let observers = self.observers.into_inner().unwrap_or_else(PoisonError::into_inner);
        observers.into_iter().filter_map(|(name, mut one)| Some((name, one.end(now).err()?))).collect()
    }

    fn show(&self, show: impl Fn(&mut dyn Observer, Timestamp)) {
        let now = self.clock.now();
        let mut observers = self.observers.lock().unwrap_or_else(PoisonError::into_inner);
        observers.iter_mut().for_each(|(_, one)| show(&mut **one, now));
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

    fn handed_out(&self, jobs: &JobFigures, alive: &dyn Fn() -> usize) {
        self.front.handed_out(jobs, alive);
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
