//! Text output of `run` and `status`.

use crate::ui::{Progress, Ui, plain};
use asterisk_base::model::{Case, Hash};
use asterisk_diag::counted;
use asterisk_diag::{Diagnostic, Diagnostics};
use asterisk_session::{AppliedReload, RunListener, RunResult, Session, StartedRun};
use asterisk_store::JobFigures;
use asterisk_walk::{Event, EventBody, ReloadCause, TextChange};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often the progress of a fetch is printed with `-v`, in failures.
const FETCH_STEP: usize = 100;

/// Shows the progress of a run: a progress bar, and with `-v` every turn.
pub(super) struct LiveView {
    ui: Ui,
    verbose: u8,
    bar: OnceLock<Progress>,
    /// Set when the first walk may begin.
    walking: Arc<AtomicBool>,
    /// Whether the run is to be migrated to the current texts.
    migrate: bool,
    /// Prevents interleaving of lines from several threads.
    line: Mutex<()>,
    handed_out: Mutex<HandedOut>,
}

/// The time without progress after which missing workers are reported.
const WITHOUT_WORKERS: Duration = Duration::from_secs(3);

/// The progress of cases that were handed out to workers.
#[derive(Default)]
struct HandedOut {
    /// How many jobs of the batch ended.
    ended: u64,
    /// Since when no worker has any.
    idle_since: Option<Instant>,
    /// Whether that was reported.
    reported: bool,
}

impl LiveView {
    pub(super) fn new(ui: &Ui, verbose: u8, walking: Arc<AtomicBool>, migrate: bool) -> Self {
        Self {
            ui: ui.clone(),
            verbose,
            bar: OnceLock::new(),
            walking,
            migrate,
            line: Mutex::new(()),
            handed_out: Mutex::default(),
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish();
        }
    }

    fn print(&self, text: &str) {
        self.with_bar_hidden(|ui| ui.note(&plain(text)));
    }

    /// Writes with the progress bar hidden.
    pub(super) fn with_bar_hidden(&self, write: impl FnOnce(&Ui)) {
        let _line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match self.bar.get() {
            Some(bar) => bar.aside(|| write(&self.ui)),
            None => write(&self.ui),
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
            self.print(&format!("run {run}: {}", counted(cases, "case", "cases")));
        }
        self.bar.get_or_init(|| self.ui.progress(if self.verbose > 0 { 0 } else { cases }));
    }

    fn event(&self, event: &Event) {
        match (&event.what, self.verbose) {
            (EventBody::ThermalWarning { spent_ms, ceiling_ms, .. }, 0 | 1) => {
                let ceiling = ceiling_ms.map_or(String::new(), |ceiling| format!("; at {ceiling} ms it stops"));
                self.print(&format!("warning: the answers of case {} took {spent_ms} ms{ceiling}", event.case));
            }
            (EventBody::Transition { from, to, edge, because, .. }, 1) => {
                self.print(&format!("{} {}: {from} -> {to} by {edge}: {because}", event.case, event.path));
            }
            (_, 0 | 1) => {}
            (_, _) => self.print(&serde_json::to_string(event).unwrap_or_default()),
        }
    }

    fn reloaded(&self, reloaded: &AppliedReload) {
        let AppliedReload { revision, cause, changed, graph_kept } = reloaded;
        if *cause == ReloadCause::Migrate {
            self.print(&format!("migrated to the current sources (revision {revision}):\n{}", changes(changed)));
        } else if self.verbose > 0 {
            self.print(&format!("revision {revision}:\n{}", changes(changed)));
        }
        if *graph_kept {
            self.print(
                "reload: nodes or edges of the pipeline changed; this run keeps its original ones, and uses the other edits",
            );
        }
    }

    fn kept(&self, problems: &Diagnostics) {
        self.with_bar_hidden(|ui| {
            ui.diagnostics(problems);
            ui.note("reload: rejected; it does not fit the nodes and edges of this run");
        });
    }

    fn pinned(&self, changed: &[TextChange]) {
        let message = "these sources changed since; the run continues with the recorded ones (--migrate uses the current ones)";
        self.print(&format!("{message}:\n{}", changes(changed)));
    }

    fn over(&self) {
        if self.migrate {
            self.print("the run is over: nothing to migrate");
        }
    }

    fn fetched(&self, done: usize, of: usize) {
        match (self.verbose, done) {
            (0, 0) => self.bar.get_or_init(|| self.ui.progress(of)).begin("fetching ", of),
            (0, _) => self.bar.get_or_init(|| self.ui.progress(of)).step(""),
            _ if done.is_multiple_of(FETCH_STEP) => {
                self.print(&format!("fetching: read the logs of {done} of {of} failures"));
            }
            _ => {}
        }
    }

    fn phase(&self, phase: usize, phases: usize, cases: usize) {
        if let Some(bar) = self.bar.get().filter(|_| self.verbose == 0) {
            let what = if phases > 1 { format!("phase {phase} of {phases} ") } else { String::new() };
            bar.begin(&what, cases);
        }
    }

    fn handed_out(&self, jobs: &JobFigures, alive: &dyn Fn() -> usize) {
        let mut progress = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = jobs.done + jobs.dead;
        if ended < progress.ended {
            progress.ended = 0;
        }
        if let Some(bar) = self.bar.get() {
            (progress.ended..ended).for_each(|_| bar.step(""));
        }
        if ended > progress.ended || jobs.walking > 0 {
            progress.idle_since = None;
        } else if progress.idle_since.get_or_insert_with(Instant::now).elapsed() > WITHOUT_WORKERS && !progress.reported {
            progress.reported = true;
            if alive() == 0 {
                self.print("no worker takes cases; start some with: asterisk worker");
            }
        }
        progress.ended = ended;
    }

    fn case_went(&self, case: &Case) {
        if let Some(bar) = self.bar.get() {
            bar.step(&plain(&case.name));
        }
    }
}

/// A line for each changed text, with its content addresses.
fn changes(changed: &[TextChange]) -> String {
    let short = |hash: Option<Hash>, none: &str| hash.map_or(none.to_owned(), |hash| hash.short()[..8].to_owned());
    let line = |change: &TextChange| {
        format!("  {}  {} -> {}", change.what, short(change.before, "(new)"), short(change.after, "(gone)"))
    };
    changed.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Prints why walks failed; a failure shared by several cases is printed once.
pub(super) fn failures(ui: &Ui, result: &RunResult) {
    let mut distinct: Vec<(&Diagnostic, Vec<&str>)> = Vec::new();
    for (case, failure) in &result.failures {
        match distinct.iter_mut().find(|(diagnostic, _)| **diagnostic == *failure.diagnostic) {
            Some((_, cases)) => cases.push(case),
            None => distinct.push((&failure.diagnostic, vec![case])),
        }
    }
    for (diagnostic, cases) in distinct {
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

/// Prints what candidate rules would have decided.
pub(super) fn shadow(ui: &Ui, result: &RunResult) {
    let Some(shadow) = &result.shadow else { return };
    let by = |(edge, count): (&String, &usize)| match edge.as_str() {
        "error" => format!("{count} would fail"),
        "" => format!("{count} would end there"),
        edge => format!("{count} by {edge}"),
    };
    let ways = shadow.by.iter().map(by).collect::<Vec<_>>().join(", ");
    let ways = if ways.is_empty() { ways } else { format!(": {}", plain(&ways)) };
    ui.note(&format!("shadow: {} of {} decisions would differ{ways}", shadow.differ, shadow.decisions));
    if shadow.verdicts > 0 {
        let differ: usize = shadow.verdicts_by.values().sum();
        let ways: Vec<String> = shadow.verdicts_by.iter().map(|(defect, count)| format!("{count} {defect}")).collect();
        let ways = if ways.is_empty() { String::new() } else { format!(": {}", plain(&ways.join(", "))) };
        ui.note(&format!("shadow: {differ} of {} verdicts would name another defect{ways}", shadow.verdicts));
    }
}

/// Prints the token usage of external answers.
pub(super) fn tokens(ui: &Ui, result: &RunResult) {
    let tokens = &result.tokens;
    if !tokens.is_none() {
        let estimated = if tokens.estimated { ", partly or wholly estimated" } else { "" };
        ui.note(&format!("tokens: {} in, {} out{estimated}; {:.4} USD", tokens.prompt, tokens.answer, tokens.cost));
    }
    if let Some((status, _)) = &result.budget {
        ui.note(&format!("budget: {} of {} tokens used ({:.1} %)", status.used, status.total_budget, status.percent_used));
    }
}

/// Why a run stopped, and the command that continues it. `store_flag` is appended to the command to find the store.
pub(super) fn stopped(session: &Session, result: &RunResult, store_flag: &str) -> String {
    let run = &result.run;
    let command = session.resumed_by(run);
    let waiting = session.waiting(result).count();
    if let Some((status, true)) = &result.budget {
        let more = status.used.max(status.total_budget) * 2;
        return format!(
            "stopped: the budget is spent; continue with: asterisk {command} --resume {run} --budget {more}{store_flag}"
        );
    }
    match waiting {
        0 => format!("stopped; continue with: asterisk {command} --resume {run}{store_flag}"),
        1 => format!("1 case waits for an answer; get its prompt with: asterisk cursor --suite-id {run}{store_flag}"),
        n => format!("{n} cases wait for an answer; get the next prompt with: asterisk cursor --suite-id {run}{store_flag}"),
    }
}
