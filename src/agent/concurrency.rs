//! How many may ask somebody at once.

use crate::diag::Diagnostic;
use crate::walk::{Answerer, NodeAnswer, Refusal, Request};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often somebody who waits looks whether the run is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Lets so many ask at once; others wait for their turn.
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
            busy = self.freed.wait_timeout(busy, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *busy += 1;
        drop(busy);
        let _turn = LimitPermit(self);
        self.inner.answer(request)
    }
}

/// A place taken, given back however the request ends.
struct LimitPermit<'l, 'a>(&'l ConcurrencyLimit<'a>);

impl Drop for LimitPermit<'_, '_> {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

/// What comes of some work in a thread of its own; nothing if the run is to stop before: then the work is left to end by its own time.
pub(super) fn unless_stopped<T: Send + 'static>(stop: &AtomicBool, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = sync_channel(1);
    thread::spawn(move || drop(done.send(work())));
    loop {
        match result.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
            Err(_) => return None,
        }
    }
}

/// That the run is to stop before an answer was there: the case goes on when the run does.
pub(super) fn stopped() -> Refusal {
    Refusal::wait(Diagnostic::error("agent/stopped", "the run was stopped before the answer was there"))
}
