//! What `run` and `status` show a person.

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Case;
use crate::session::{RunResult, Watch};
use crate::ui::{Progress, Ui, plain};
use crate::walk::{Event, What};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Shows a run while it goes on: a progress bar, and with `-v` every turn.
pub(super) struct Live {
    ui: Ui,
    verbose: u8,
    bar: OnceLock<Progress>,
    /// Becomes true when the first walk may begin.
    walking: Arc<AtomicBool>,
    /// Keeps lines of several threads whole.
    line: Mutex<()>,
}

impl Live {
    pub(super) fn new(ui: Ui, verbose: u8, walking: Arc<AtomicBool>) -> Self {
        Self { ui, verbose, bar: OnceLock::new(), walking, line: Mutex::new(()) }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish();
        }
    }

    fn say(&self, text: &str) {
        let _line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        self.ui.note(&plain(text));
    }
}

impl Watch for Live {
    fn warnings(&self, warnings: &Diagnostics) {
        self.ui.diagnostics(warnings);
    }

    fn began(&self, run: &str, cases: usize) {
        self.walking.store(true, Ordering::Relaxed);
        if self.verbose > 0 {
            self.say(&format!("run {run}: {cases} cases"));
        }
        self.bar.get_or_init(|| self.ui.progress(if self.verbose > 0 { 0 } else { cases }));
    }

    fn event(&self, event: &Event) {
        match (&event.what, self.verbose) {
            (What::Transition { from, to, edge, because, .. }, 1) => {
                self.say(&format!("{} {}: {from} -> {to} by {edge}: {because}", event.case, event.path));
            }
            (_, 0 | 1) => {}
            (_, _) => self.say(&serde_json::to_string(event).unwrap_or_default()),
        }
    }

    fn phase(&self, phase: usize, phases: usize, cases: usize) {
        if let Some(bar) = self.bar.get().filter(|_| self.verbose == 0) {
            let what = if phases > 1 { format!("phase {phase} of {phases} ") } else { String::new() };
            bar.begin(&what, cases);
        }
    }

    fn case_went(&self, case: &Case) {
        if let Some(bar) = self.bar.get() {
            bar.step(&plain(&case.name));
        }
    }
}

/// Says why walks failed: a failure that several cases share is told once.
pub(super) fn failures(ui: Ui, result: &RunResult) {
    let mut told: Vec<(&Diagnostic, Vec<&str>)> = Vec::new();
    for (case, failure) in &result.failures {
        match told.iter_mut().find(|(diagnostic, _)| **diagnostic == *failure.diagnostic) {
            Some((_, cases)) => cases.push(case),
            None => told.push((&failure.diagnostic, vec![case])),
        }
    }
    for (diagnostic, cases) in told {
        ui.diagnostic(diagnostic);
        match cases.as_slice() {
            [one] => ui.note(&format!("  in case {one}\n")),
            several => {
                let named = several.iter().take(5).copied().collect::<Vec<_>>().join(", ");
                let more = if several.len() > 5 { ", ..." } else { "" };
                ui.note(&format!("  in {} cases: {named}{more}\n", several.len()));
            }
        }
    }
}
