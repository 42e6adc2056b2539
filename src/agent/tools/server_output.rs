//! What a server let be known beside its messages: why it can be heard no more, and the end of what it wrote to its standard error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes that are shown of the end of standard error; twice as many are kept.
const STDERR: usize = 4 << 10;
/// How long the rest of it is waited for.
const GRACE: Duration = Duration::from_millis(200);

/// What is known of one, shared with whoever listens to it.
#[derive(Clone, Default)]
pub(super) struct SharedServerOutput(Arc<Mutex<ServerOutput>>);

/// See [`SharedServerOutput`].
#[derive(Clone, Default)]
pub(super) struct ServerOutput {
    /// Why nothing more is heard.
    pub(super) why: Option<String>,
    /// Whether asking again cannot help.
    pub(super) for_good: bool,
    /// The beginning of the last thing it said that is no message.
    pub(super) garbage: Option<String>,
    stderr: Vec<u8>,
    writes: bool,
}

impl SharedServerOutput {
    fn known(&self) -> MutexGuard<'_, ServerOutput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known by now. Of one that has gone, the rest of its standard error is waited for a little.
    pub(super) fn now(&self) -> ServerOutput {
        let until = Instant::now() + GRACE;
        while Instant::now() < until && self.is_to_say_more() {
            thread::sleep(Duration::from_millis(2));
        }
        self.known().clone()
    }

    /// Whether it is gone, and its standard error is still open.
    fn is_to_say_more(&self) -> bool {
        let known = self.known();
        known.writes && known.why.is_some()
    }

    /// Whether it may write to its standard error.
    pub(super) fn writes(&self, writes: bool) {
        self.known().writes = writes;
    }

    /// Nothing more is heard.
    pub(super) fn over(&self, why: String, for_good: bool) {
        let mut known = self.known();
        (known.why, known.for_good) = (Some(why), for_good);
    }

    pub(super) fn garbage(&self, said: &[u8]) {
        self.known().garbage = Some(String::from_utf8_lossy(&said[..said.len().min(STDERR)]).into_owned());
    }

    pub(super) fn stderr(&self, bytes: &[u8]) {
        let kept = &mut self.known().stderr;
        kept.extend(bytes);
        let more = kept.len().saturating_sub(2 * STDERR);
        kept.drain(..more);
    }
}

impl ServerOutput {
    /// The end of what it wrote to its standard error, once `hide` has taken out what nobody is shown.
    pub(super) fn stderr(&self, hide: &dyn Fn(&str) -> String) -> String {
        let hidden = hide(&String::from_utf8_lossy(&self.stderr));
        // What is kept of it begins anywhere, also within what is to be hidden.
        let from = hidden.len().saturating_sub(STDERR);
        let from = (from..=hidden.len()).find(|at| hidden.is_char_boundary(*at)).unwrap_or(0);
        hidden[from..].trim().to_owned()
    }
}
