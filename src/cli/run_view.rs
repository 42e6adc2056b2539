//! What `run` and `status` show a person.

use crate::diag::Diagnostic;
use crate::model::Case;
use crate::report::{Report, confidence};
use crate::session::{RunResult, Watch};
use crate::ui::{Progress, Ui};
use crate::walk::{Event, Status, What};
use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Shows a run while it goes on: a progress bar, and with `-v` every turn.
pub(super) struct Live {
    ui: Ui,
    verbose: u8,
    bar: OnceLock<Progress>,
    /// Keeps lines of several threads whole.
    line: Mutex<()>,
}

impl Live {
    pub(super) fn new(ui: Ui, verbose: u8) -> Self {
        Self { ui, verbose, bar: OnceLock::new(), line: Mutex::new(()) }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish();
        }
    }

    fn say(&self, text: &str) {
        let _line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        self.ui.note(text);
    }
}

impl Watch for Live {
    fn began(&self, run: &str, cases: usize) {
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

    fn case_over(&self, case: &Case, _status: Status) {
        if let Some(bar) = self.bar.get() {
            bar.step(&case.name);
        }
    }
}

/// The table of cases, and a line of totals.
pub(super) fn print(ui: Ui, report: &Report, result: &RunResult) {
    let found = report.cases.iter().any(|case| !case.finding.defect_type.is_empty() || !case.finding.category.is_empty());
    let columns: &[&str] = if found {
        &["case", "category", "defect", "component", "conf.", "path", "what next"]
    } else {
        &["case", "status", "path", "edges"]
    };
    let mut table = ui.table(columns);
    for case in &report.cases {
        let next = match &case.error {
            Some(error) => format!("{} at {}: {}", error.kind, error.node, error.message),
            None => case.finding.next_steps.first().cloned().unwrap_or_default(),
        };
        let name = if case.name == case.case { case.case.clone() } else { format!("{} {}", case.case, clip(&case.name)) };
        if found {
            let finding = &case.finding;
            table.row([
                name,
                finding.category.clone(),
                finding.defect_type.clone(),
                finding.component.clone(),
                confidence(finding.confidence),
                case.path.join(" "),
                next,
            ]);
        } else {
            let edges: Vec<&str> = case.turns.iter().map(|turn| turn.edge.as_str()).collect();
            let status = case.error.as_ref().map_or_else(|| word(case.status).to_owned(), |error| error.kind.clone());
            table.row([name, status, case.path.join(" "), edges.join(" ")]);
        }
    }
    ui.out(&table.text());
    let totals = &report.totals;
    let by = |counts: &std::collections::BTreeMap<String, usize>| {
        let mut counts: Vec<_> = counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
    };
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut line = plural(totals.cases, "case");
    if !report.causes.is_empty() {
        let _ = write!(line, ", {}", plural(report.causes.len(), "cause"));
    }
    if totals.error > 0 {
        let _ = write!(line, ", {} failed", totals.error);
    }
    if !totals.by_defect_type.is_empty() {
        let _ = write!(line, ": {}", by(&totals.by_defect_type));
    }
    ui.out(&line);
    if let Some(path) = &result.report {
        ui.out(&format!("report: {}", path.display()));
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Paused => "paused",
        Status::Done => "done",
        Status::Error => "error",
    }
}

/// At most 40 characters of a name.
fn clip(name: &str) -> String {
    if name.chars().count() <= 40 { name.to_owned() } else { name.chars().take(39).chain(['…']).collect() }
}

/// Says why walks failed: a failure that several cases share is told once.
pub(super) fn failures(ui: Ui, result: &RunResult) {
    let mut told: Vec<(&Diagnostic, Vec<&str>)> = Vec::new();
    for case in &result.cases {
        let Some(failure) = &case.failure else { continue };
        match told.iter_mut().find(|(diagnostic, _)| **diagnostic == *failure.diagnostic) {
            Some((_, cases)) => cases.push(&case.case.id),
            None => told.push((&failure.diagnostic, vec![&case.case.id])),
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
