//! The one run that is served at a time, and what is known of it.

use super::fault::ToolFault;
use super::signals::{ServeSignal, Signals};
use crate::agent::{QueueClosed, StepQueue};
use crate::lint;
use crate::session::Session;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Who speaks in the name of this program.
pub(super) const SERVER: &str = "server";

/// What all connections share.
pub(super) struct SessionRegistry {
    pub(super) session: Session,
    /// How bad findings of the linter are taken to be, and what its rules go by.
    pub(super) lint: lint::Config,
    idle: Duration,
    current: Mutex<Option<Arc<ServedRun>>>,
    /// Held while a run is being started: one at a time.
    pub(super) starting: Mutex<()>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RunPhase {
    /// Its cases walk.
    Running,
    /// It is over: its summary.
    Done(Value),
    /// It ended before that, or could not go on: why, and its summary if there is one.
    Error(String, Value),
}

impl RunPhase {
    /// The word for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done(_) => "done",
            Self::Error(..) => "error",
        }
    }
}

/// A run that is served.
pub(super) struct ServedRun {
    /// The run's id.
    pub(super) run: String,
    pub(super) queue: Arc<StepQueue>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) phase: Mutex<RunPhase>,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) cases: usize,
    pub(super) parallel: usize,
    signals: Mutex<Signals>,
    heard: Mutex<Instant>,
    session: Session,
}

impl ServedRun {
    pub(super) fn new(
        session: &Session,
        (run, cases): (String, usize),
        (queue, stop): (Arc<StepQueue>, Arc<AtomicBool>),
        parallel: usize,
    ) -> Self {
        Self {
            run,
            queue,
            stop,
            phase: Mutex::new(RunPhase::Running),
            thread: Mutex::new(None),
            cases,
            parallel,
            signals: Mutex::default(),
            heard: Mutex::new(Instant::now()),
            session: session.clone(),
        }
    }

    pub(super) fn phase(&self) -> RunPhase {
        locked(&self.phase).clone()
    }

    /// Somebody was heard of.
    pub(super) fn touch(&self) {
        *locked(&self.heard) = Instant::now();
    }

    pub(super) fn signals(&self) -> MutexGuard<'_, Signals> {
        locked(&self.signals)
    }

    /// Says that something happened.
    pub(super) fn tell(
        &self,
        (event, agent): (&str, &str),
        (case_id, step): (Option<String>, Option<String>),
        meta: BTreeMap<String, String>,
    ) -> usize {
        let at = self.session.setup().clock.now();
        self.signals().add(ServeSignal { index: 0, at, event: event.to_owned(), agent: agent.to_owned(), case_id, step, meta })
    }

    /// Ends it where it is; it can be resumed.
    pub(super) fn end(&self, why: &QueueClosed) {
        self.queue.close(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits until its thread has ended.
    pub(super) fn join(&self) {
        if let Some(thread) = locked(&self.thread).take() {
            drop(thread.join());
        }
    }
}

impl SessionRegistry {
    pub(super) fn new(session: Session, lint: lint::Config, idle: Duration) -> Self {
        Self { session, lint, idle, current: Mutex::new(None), starting: Mutex::new(()) }
    }

    pub(super) fn current(&self) -> Option<Arc<ServedRun>> {
        locked(&self.current).clone()
    }

    pub(super) fn serve(&self, served: Arc<ServedRun>) {
        *locked(&self.current) = Some(served);
    }

    /// The run that is served, if it is the one that is meant. Whoever asks for it was heard of.
    pub(super) fn served(&self, asked: Option<&str>) -> Result<Arc<ServedRun>, ToolFault> {
        let served =
            self.current().ok_or_else(|| ToolFault::new("no_session", "no session is there").help("start one with start_run"))?;
        if let Some(asked) = asked.filter(|asked| *asked != served.run) {
            let message = format!("there is no session `{asked}`");
            return Err(ToolFault::new("no_session", message).help(format!("the session is `{}`", served.run)));
        }
        served.touch();
        Ok(served)
    }

    /// Aborts a run once nobody was heard of for so long.
    pub(super) async fn mind_idle(self: Arc<Self>) {
        let look = (self.idle / 4).clamp(Duration::from_millis(20), Duration::from_secs(1));
        loop {
            tokio::time::sleep(look).await;
            let Some(served) = self.current() else { continue };
            if served.phase() == RunPhase::Running && locked(&served.heard).elapsed() > self.idle {
                let why = format!("nobody was heard of for {} s", self.idle.as_secs_f64());
                served.end(&QueueClosed::Aborted(why));
            }
        }
    }

    /// Ends what is under way.
    pub(super) fn close(&self) {
        if let Some(served) = self.current() {
            served.end(&QueueClosed::Cancelled);
            served.join();
        }
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
