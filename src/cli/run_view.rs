//! What `run` and `status` show a person.

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Case, Hash};
use crate::session::{AppliedReload, RunListener, RunResult, Session, StartedRun};
use crate::ui::{Progress, Ui, plain};
use crate::walk::{Event, EventBody, ReloadCause, TextChange};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// After so many failures it is told how far a fetch is.
const FETCHED: usize = 100;

/// Shows a run while it goes on: a progress bar, and with `-v` every turn.
pub(super) struct LiveView {
    ui: Ui,
    verbose: u8,
    bar: OnceLock<Progress>,
    /// Becomes true when the first walk may begin.
    walking: Arc<AtomicBool>,
    /// Whether the run is to go on by the texts of now.
    migrate: bool,
    /// Keeps lines of several threads whole.
    line: Mutex<()>,
}

impl LiveView {
    pub(super) fn new(ui: Ui, verbose: u8, walking: Arc<AtomicBool>, migrate: bool) -> Self {
        Self { ui, verbose, bar: OnceLock::new(), walking, migrate, line: Mutex::new(()) }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish();
        }
    }

    fn say(&self, text: &str) {
        self.aside(|ui| ui.note(&plain(text)));
    }

    /// Writes, the bar out of the way.
    pub(super) fn aside(&self, write: impl FnOnce(Ui)) {
        let _line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match self.bar.get() {
            Some(bar) => bar.aside(|| write(self.ui)),
            None => write(self.ui),
        }
    }
}

impl RunListener for LiveView {
    fn warnings(&self, warnings: &Diagnostics) {
        self.ui.diagnostics(warnings);
    }

    fn began(&self, begun: &StartedRun<'_>) {
        let StartedRun { run, cases, .. } = *begun;
        self.walking.store(true, Ordering::Relaxed);
        if self.verbose > 0 {
            self.say(&format!("run {run}: {cases} cases"));
        }
        self.bar.get_or_init(|| self.ui.progress(if self.verbose > 0 { 0 } else { cases }));
    }

    fn event(&self, event: &Event) {
        match (&event.what, self.verbose) {
            (EventBody::ThermalWarning { spent_ms, ceiling_ms, .. }, 0 | 1) => {
                let ceiling = ceiling_ms.map_or(String::new(), |ceiling| format!("; at {ceiling} ms it stops"));
                self.say(&format!("warning: the answers of case {} took {spent_ms} ms{ceiling}", event.case));
            }
            (EventBody::Transition { from, to, edge, because, .. }, 1) => {
                self.say(&format!("{} {}: {from} -> {to} by {edge}: {because}", event.case, event.path));
            }
            (_, 0 | 1) => {}
            (_, _) => self.say(&serde_json::to_string(event).unwrap_or_default()),
        }
    }

    fn reloaded(&self, reloaded: &AppliedReload) {
        let AppliedReload { revision, cause, changed, graph_kept } = reloaded;
        if *cause == ReloadCause::Migrate {
            self.say(&format!("migrated to the texts of now (generation {revision}):\n{}", changes(changed)));
        } else if self.verbose > 0 {
            self.say(&format!("generation {revision}:\n{}", changes(changed)));
        }
        if *graph_kept {
            self.say("reload: nodes or edges of the pipeline changed; this run keeps those it began with, and takes the rest");
        }
    }

    fn kept(&self, problems: &Diagnostics) {
        self.aside(|ui| {
            ui.diagnostics(problems);
            ui.note("reload: not taken, for it does not fit the nodes and edges that this run began with");
        });
    }

    fn pinned(&self, changed: &[TextChange]) {
        let say = "these texts changed since; the run goes on by those it went by (--migrate takes the texts of now)";
        self.say(&format!("{say}:\n{}", changes(changed)));
    }

    fn over(&self) {
        if self.migrate {
            self.say("the run is over: there is nothing to migrate");
        }
    }

    fn fetched(&self, done: usize, of: usize) {
        match (self.verbose, done) {
            (0, 0) => self.bar.get_or_init(|| self.ui.progress(of)).begin("fetching ", of),
            (0, _) => self.bar.get_or_init(|| self.ui.progress(of)).step(""),
            _ if done.is_multiple_of(FETCHED) => self.say(&format!("fetching: the logs of {done} of {of} failures are read")),
            _ => {}
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

/// A line for each text that changed, with its addresses.
fn changes(changed: &[TextChange]) -> String {
    let short = |hash: Option<Hash>, none: &str| hash.map_or(none.to_owned(), |hash| hash.short()[..8].to_owned());
    let line = |change: &TextChange| {
        format!("  {}  {} -> {}", change.what, short(change.before, "(new)"), short(change.after, "(gone)"))
    };
    changed.iter().map(line).collect::<Vec<_>>().join("\n")
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

/// Says what candidate rules would have decided.
pub(super) fn shadow(ui: Ui, result: &RunResult) {
    let Some(shadow) = &result.shadow else { return };
    let by = |(edge, count): (&String, &usize)| match edge.as_str() {
        "error" => format!("{count} would fail"),
        "" => format!("{count} would end there"),
        edge => format!("{count} by {edge}"),
    };
    let ways = shadow.by.iter().map(by).collect::<Vec<_>>().join(", ");
    let ways = if ways.is_empty() { ways } else { format!(": {}", plain(&ways)) };
    ui.note(&format!("shadow: {} of {} decisions would differ{ways}", shadow.differ, shadow.decisions));
}

/// Says what the answers took that came from outside.
pub(super) fn tokens(ui: Ui, result: &RunResult) {
    let tokens = &result.tokens;
    if !tokens.is_none() {
        let estimated = if tokens.estimated { ", partly or wholly estimated" } else { "" };
        ui.note(&format!("tokens: {} in, {} out{estimated}; {:.4} USD", tokens.prompt, tokens.answer, tokens.cost));
    }
    if let Some((status, _)) = &result.budget {
        ui.note(&format!("budget: {} of {} tokens used ({:.1} %)", status.used, status.total_budget, status.percent_used));
    }
}

/// Why a run stopped, and how to go on with it. `again`: what the command needs to find it.
pub(super) fn stopped(session: &Session, result: &RunResult, again: &str) -> String {
    let run = &result.run;
    let waiting = session.waiting(result).count();
    if let Some((status, true)) = &result.budget {
        let more = status.used.max(status.total_budget) * 2;
        return format!("stopped: the budget is used up; go on with: asterisk run --resume {run} --budget {more}{again}");
    }
    match waiting {
        0 => format!("stopped; go on with: asterisk run --resume {run}{again}"),
        1 => format!("1 case waits for an answer; take its prompt with: asterisk cursor --suite-id {run}{again}"),
        n => format!("{n} cases wait for an answer; take the next prompt with: asterisk cursor --suite-id {run}{again}"),
    }
}
