//! A progress bar on stderr, none off a terminal.

use super::plain;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _};

/// How far a run is.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(total: usize, wanted: bool) -> Self {
        let shown = wanted && io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} cases, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// A part begins: so many from nothing. `what` says which it is, and what follows says how far it is.
    pub fn begin(&self, what: &str, total: usize) {
        self.0.set_prefix(plain(what));
        self.0.set_length(total as u64);
        self.0.set_position(0);
        self.0.reset_eta();
    }

    /// One more is done; `what` says which.
    pub fn step(&self, what: &str) {
        self.0.set_message(plain(what).replace(['\n', '\t'], " "));
        self.0.inc(1);
    }

    /// Lets others write while the bar is out of the way.
    pub fn aside(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
