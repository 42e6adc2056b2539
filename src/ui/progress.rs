//! A progress bar on stderr, hidden without a terminal.

use super::plain;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress of a run.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(total: usize, shown: bool) -> Self {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} cases, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Starts a part named `what` with `total` steps.
    pub fn begin(&self, what: &str, total: usize) {
        self.0.set_prefix(plain(what));
        self.0.set_length(total as u64);
        self.0.set_position(0);
        self.0.reset_eta();
    }

    /// Advances by one step, named `what`.
    pub fn step(&self, what: &str) {
        self.0.set_message(plain(what).replace(['\n', '\t'], " "));
        self.0.inc(1);
    }

    /// Hides the bar while others write.
    pub fn aside(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
