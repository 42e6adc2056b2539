//! A progress bar on stderr, none off a terminal.

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
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} cases  {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// One more is done; `what` says which.
    pub fn step(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
