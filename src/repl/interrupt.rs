//! An interruption ends what is being waited for; else it ends the session.

use crate::exit::Exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether a session waits, and whether it is to stop waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    waits: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on interruptions go by it.
    pub(super) fn installed() -> Self {
        let own = Self::default();
        let handler = {
            let own = own.clone();
            move || {
                if own.waits.load(Ordering::Relaxed) {
                    own.stop.store(true, Ordering::Relaxed);
                } else {
                    // The user asked, and a session that does not wait holds nothing.
                    #[allow(clippy::exit)]
                    std::process::exit(i32::from(Exit::Interrupted as u8));
                }
            }
        };
        // Without a handler an interruption ends the process at once, which loses nothing.
        drop(ctrlc::set_handler(handler));
        own
    }

    /// Looks again and again until there is nothing more to wait for; false if it was interrupted.
    pub(super) fn wait<E>(&self, every: Duration, mut more: impl FnMut() -> Result<bool, E>) -> Result<bool, E> {
        self.stop.store(false, Ordering::Relaxed);
        self.waits.store(true, Ordering::Relaxed);
        let done = loop {
            match more() {
                Ok(true) if self.stop.load(Ordering::Relaxed) => break Ok(false),
                Ok(true) => std::thread::sleep(every),
                Ok(false) => break Ok(true),
                Err(error) => break Err(error),
            }
        };
        self.waits.store(false, Ordering::Relaxed);
        done
    }
}
