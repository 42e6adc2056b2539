//! Registry of the run being served, one at a time.

use super::fault::ToolFault;
use super::signals::{ServeSignal, Signals};
use asterisk_adapters::agent::{QueueClosed, StepQueue};
use asterisk_lint as lint;
use asterisk_session::Session;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Name of the server as the source of signals.
pub(super) const SERVER: &str = "server";

/// State shared by all connections.
pub(super) struct SessionRegistry {
    pub(super) session: Session,
    /// Severities and settings of lint rules.
    pub(super) lint: lint::Config,
    idle: Duration,
    current: Mutex<Option<Arc<ServedRun>>>,
    /// Held while a run is being started.
    pub(super) starting: Mutex<()>,
}

/// Phase of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RunPhase {
    /// Its cases are being walked.
    Running,
    /// Finished, with its summary.
    Done(Value),
    /// Failed or stopped: the reason, and its summary if there is one.
    Error(String, Value),
}

impl RunPhase {
    /// Name of the phase.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done(_) => "done",
            Self::Error(..) => "error",
        }
    }
}

/// A run being served.
pub(super) struct ServedRun {
    /// Id of the run.
    pub(super) run: String,
    pub(super) queue: Arc<StepQueue>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) phase: Mutex<RunPhase>,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) cases: usize,
    pub(super) parallel: usize,
    signals: Mutex<Signals>,
    last_contact: Mutex<Instant>,
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
            last_contact: Mutex::new(Instant::now()),
            session: session.clone(),
        }
    }

    pub(super) fn phase(&self) -> RunPhase {
        locked(&self.phase).clone()
    }

    /// Resets the idle timer.
    pub(super) fn touch(&self) {
        *locked(&self.last_contact) = Instant::now();
    }

    pub(super) fn signals(&self) -> MutexGuard<'_, Signals> {
        locked(&self.signals)
    }

    /// Adds a signal.
    pub(super) fn add_signal(
        &self,
        (event, agent): (&str, &str),
        (case_id, step): (Option<String>, Option<String>),
        meta: BTreeMap<String, String>,
    ) -> usize {
        let at = self.session.setup().clock.now();
        self.signals().add(ServeSignal { index: 0, at, event: event.to_owned(), agent: agent.to_owned(), case_id, step, meta })
    }

    /// Stops the run; it can be resumed.
    pub(super) fn end(&self, why: &QueueClosed) {
        self.queue.close(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for its thread to end.
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

    /// The run being served, if it is the requested one. Resets its idle timer.
    pub(super) fn served(&self, requested: Option<&str>) -> Result<Arc<ServedRun>, ToolFault> {
        let served =
            self.current().ok_or_else(|| ToolFault::new("no_session", "no session exists").help("start one with start_run"))?;
        if let Some(requested) = requested.filter(|requested| *requested != served.run) {
            let message = format!("unknown session `{requested}`");
            return Err(ToolFault::new("no_session", message).help(format!("the session is `{}`", served.run)));
        }
        served.touch();
        Ok(served)
    }

    /// Aborts a run after no client has made contact for the idle time.
    pub(super) async fn watch_idle(self: Arc<Self>) {
        let look = (self.idle / 4).clamp(Duration::from_millis(20), Duration::from_secs(1));
        loop {
            tokio::time::sleep(look).await;
            let Some(served) = self.current() else { continue };
            if served.phase() == RunPhase::Running && locked(&served.last_contact).elapsed() > self.idle {
                let why = format!("no client made contact for {} s", self.idle.as_secs_f64());
                served.end(&QueueClosed::Aborted(why));
            }
        }
    }

    /// Stops the run in progress.
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
