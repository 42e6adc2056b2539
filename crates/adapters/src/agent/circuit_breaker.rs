//! Circuit breaker for answerers that fail repeatedly: closed, open for a while, then half-open for one probe.

use super::concurrency::stopped;
use asterisk_base::clock::{Clock, Timestamp};
use asterisk_diag::Diagnostic;
use asterisk_walk::{AfterRefusal, Answerer, NodeAnswer, Refusal, Request};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a thread waiting for a probe checks whether the run stops.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Refuses requests for a while after a number of consecutive failures.
pub(super) struct CircuitBreaker<'a> {
    inner: Box<dyn Answerer + 'a>,
    failures: usize,
    rest: Duration,
    clock: &'a dyn Clock,
    stop: &'a AtomicBool,
    state: Mutex<BreakerState>,
    probed: Condvar,
}

#[derive(Debug, Default)]
struct BreakerState {
    /// Consecutive failures.
    failures: usize,
    /// Until when requests are refused.
    open: Option<Timestamp>,
    /// Whether a probe is in progress.
    probing: bool,
}

impl<'a> CircuitBreaker<'a> {
    pub(super) fn new(
        inner: Box<dyn Answerer + 'a>,
        (failures, rest): (usize, Duration),
        clock: &'a dyn Clock,
        stop: &'a AtomicBool,
    ) -> Self {
        Self { inner, failures, rest, clock, stop, state: Mutex::default(), probed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, BreakerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the request may pass. A request that arrives during a probe waits for its result.
    fn enter(&self) -> Result<(), Refusal> {
        let mut state = self.state();
        loop {
            let Some(until) = state.open else { return Ok(()) };
            let remaining = until.millis() - self.clock.now().millis();
            if let Ok(remaining @ 1..) = u64::try_from(remaining) {
                let message =
                    format!("`{}` failed {} times in a row and is skipped for a while", self.inner.name(), state.failures);
                let help = "`breaker:` of its entry in `agents:` sets when and for how long";
                let diagnostic = Box::new(Diagnostic::error("agent/resting", message).help(help));
                return Err(Refusal { diagnostic, next: AfterRefusal::Rest(Duration::from_millis(remaining)) });
            }
            if !state.probing {
                state.probing = true;
                return Ok(());
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            state = self.probed.wait_timeout(state, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn leave(&self, failed: Option<bool>) {
        let mut state = self.state();
        match failed {
            Some(true) => {
                state.failures += 1;
                if state.probing || state.failures >= self.failures {
                    let rest = i64::try_from(self.rest.as_millis()).unwrap_or(i64::MAX);
                    state.open = Some(Timestamp::from_millis(self.clock.now().millis().saturating_add(rest)));
                }
            }
            Some(false) => (state.failures, state.open) = (0, None),
            None => {}
        }
        state.probing = false;
        self.probed.notify_all();
    }
}

impl Answerer for CircuitBreaker<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        self.enter()?;
        let rounds = request.rejections(self.name());
        let reply = self.inner.answer(request);
        self.leave(match &reply {
            Ok(_) => Some(false),
            Err(Refusal { next: AfterRefusal::Wait | AfterRefusal::Rest(_), .. }) => None,
            // A case out of time does not count against the agent.
            Err(_) if request.is_cut_short() => None,
            // An invalid answer is an answer; the service is up.
            Err(_) => Some(request.rejections(self.name()) == rounds),
        });
        reply
    }
}
