//! Concurrency limit of an answerer.

use asterisk_diag::Diagnostic;
use asterisk_walk::{Answerer, NodeAnswer, Refusal, Request};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval at which a waiting thread checks whether the run stops.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Limits concurrent requests; further ones wait for a permit.
pub(super) struct ConcurrencyLimit<'a> {
    pub(super) inner: Box<dyn Answerer + 'a>,
    pub(super) most: usize,
    pub(super) stop: &'a AtomicBool,
    pub(super) busy: Mutex<usize>,
    pub(super) freed: Condvar,
}

impl Answerer for ConcurrencyLimit<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        while *busy >= self.most {
            if self.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            if let Some(late) = request.overdue() {
                return Err(late);
            }
            busy = self.freed.wait_timeout(busy, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
        *busy += 1;
        drop(busy);
        let _turn = LimitPermit(self);
        self.inner.answer(request)
    }
}

/// A permit, released on drop.
struct LimitPermit<'l, 'a>(&'l ConcurrencyLimit<'a>);

impl Drop for LimitPermit<'_, '_> {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

/// Runs `work` on a thread of its own and returns its result, or `None` if the run stops first, or the node's timeout passes: then the
/// work ends by its own timeout.
pub(super) fn unless_stopped<T: Send + 'static>(
    request: &Request<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = sync_channel(1);
    thread::spawn(move || drop(done.send(work())));
    loop {
        match result.recv_timeout(request.time(POLL_INTERVAL)) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) && !request.is_overdue() => {}
            Err(_) => return None,
        }
    }
}

/// Refusal: the run stopped before the answer; the case continues when the run is resumed.
pub(super) fn stopped() -> Refusal {
    Refusal::wait(Diagnostic::error("agent/stopped", "the run was stopped before the answer arrived"))
}
