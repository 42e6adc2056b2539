//! Handles interrupts: they end a wait, or otherwise the session.

use crate::exit::Exit;
use asterisk_base::environment::Environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the session is waiting, and whether it is to stop waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    waiting: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Interrupt {
    /// Installs an interrupt handler.
    pub(super) fn install(environment: &Environment) -> Self {
        let own = Self::default();
        let handler = {
            let (own, environment) = (own.clone(), environment.clone());
            move || {
                if own.waiting.load(Ordering::Relaxed) {
                    own.stop.store(true, Ordering::Relaxed);
                } else {
                    // A session that is not waiting holds nothing to lose.
                    environment.stop(Exit::Interrupted as u8);
                }
            }
        };
        environment.on_interrupt(handler);
        own
    }

    /// Polls until there is nothing more to wait for; returns false if interrupted.
    pub(super) fn wait<E>(&self, every: Duration, mut more: impl FnMut() -> Result<bool, E>) -> Result<bool, E> {
        self.stop.store(false, Ordering::Relaxed);
        self.waiting.store(true, Ordering::Relaxed);
        let done = loop {
            match more() {
                Ok(true) if self.stop.load(Ordering::Relaxed) => break Ok(false),
                Ok(true) => std::thread::sleep(every),
                Ok(false) => break Ok(true),
                Err(error) => break Err(error),
            }
        };
        self.waiting.store(false, Ordering::Relaxed);
        done
    }
}
