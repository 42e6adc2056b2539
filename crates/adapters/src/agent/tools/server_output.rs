//! Diagnostics of a server besides its messages: why the session ended, and the end of its standard error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Number of bytes shown of the end of standard error; twice as many are kept.
const STDERR: usize = 4 << 10;
/// How long to wait for the rest of standard error.
const GRACE: Duration = Duration::from_millis(200);

/// Server output shared with the threads that read it.
#[derive(Clone, Default)]
pub(super) struct SharedServerOutput(Arc<Mutex<ServerOutput>>);

/// See [`SharedServerOutput`].
#[derive(Clone, Default)]
pub(super) struct ServerOutput {
    /// Why the session ended.
    pub(super) why: Option<String>,
    /// Whether a retry cannot help.
    pub(super) for_good: bool,
    /// The beginning of the last output that was not a message.
    pub(super) garbage: Option<String>,
    stderr: Vec<u8>,
    writes: bool,
}

impl SharedServerOutput {
    fn lock(&self) -> MutexGuard<'_, ServerOutput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current state. After the server has exited, the rest of its standard error is awaited for a grace period.
    pub(super) fn now(&self) -> ServerOutput {
        let until = Instant::now() + GRACE;
        while Instant::now() < until && self.is_to_say_more() {
            thread::sleep(Duration::from_millis(2));
        }
        self.lock().clone()
    }

    /// Whether the session has ended and standard error is still open.
    fn is_to_say_more(&self) -> bool {
        let state = self.lock();
        state.writes && state.why.is_some()
    }

    /// Sets whether standard error is open.
    pub(super) fn writes(&self, writes: bool) {
        self.lock().writes = writes;
    }

    /// Records the end of the session.
    pub(super) fn over(&self, why: String, for_good: bool) {
        let mut state = self.lock();
        (state.why, state.for_good) = (Some(why), for_good);
    }

    pub(super) fn garbage(&self, text: &[u8]) {
        self.lock().garbage = Some(String::from_utf8_lossy(&text[..text.len().min(STDERR)]).into_owned());
    }

    pub(super) fn stderr(&self, bytes: &[u8]) {
        let kept = &mut self.lock().stderr;
        kept.extend(bytes);
        let more = kept.len().saturating_sub(2 * STDERR);
        kept.drain(..more);
    }
}

impl ServerOutput {
    /// The end of standard error, redacted by `hide`.
    pub(super) fn stderr(&self, hide: &dyn Fn(&str) -> String) -> String {
        let hidden = hide(&String::from_utf8_lossy(&self.stderr));
        // The kept part begins anywhere, also within a secret.
        let from = hidden.len().saturating_sub(STDERR);
        let from = (from..=hidden.len()).find(|at| hidden.is_char_boundary(*at)).unwrap_or(0);
        hidden[from..].trim().to_owned()
    }
}
