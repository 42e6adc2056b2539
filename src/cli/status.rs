//! `asterisk status`.

use super::run_screen::ScreenParts;
use super::{FormatArg, GlobalArgs, ProjectArgs, nothing_yet, run_screen, run_view};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_report as report;
use asterisk_session::{RunResult, Session, SessionError};
use asterisk_walk::WalkStatus;
use clap::Args;
use serde_json::json;

/// List the runs of the store, newest first, or show the progress of one, case by case.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk status\n  asterisk status latest\n  asterisk status 20260214-212109-ab12cd --format json"
)]
pub(super) struct StatusArgs {
    /// The run to show: its id, or `latest` [default: list the runs].
    run: Option<String>,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn status(global: &GlobalArgs, args: &StatusArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let Some(run) = &args.run else { return list(ui, &session) };
    let result = session.result(run)?;
    let mut damaged = result.has_damage();
    match ui.format() {
        OutputFormat::Json => ui.json(&result.summary()),
        OutputFormat::Pretty => {
            let (report, diagnostics) = report::build(&result, || Ok(None))?;
            ui.diagnostics(&diagnostics);
            damaged |= diagnostics.has_errors();
            run_screen::print(ui, &report, &result, ScreenParts { cases: true, example: false });
            waiting(ui, &result)?;
            run_view::tokens(ui, &result);
            if matches!(result.status, WalkStatus::Paused | WalkStatus::Running) {
                let text = run_view::stopped(&session, &result, &global.store_flag());
                ui.note(&text.strip_prefix("stopped").map_or(text.clone(), |rest| format!("not finished{rest}")));
            }
        }
    }
    Ok(if damaged { Exit::Cases } else { Exit::Ok })
}

/// Prints the runs of the store.
fn list(ui: &Ui, session: &Session) -> Result<Exit, SessionError> {
    let runs = session.runs()?;
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "runs": runs })),
        OutputFormat::Pretty if runs.is_empty() => nothing_yet(ui, session, "no runs yet; start one with: asterisk run"),
        OutputFormat::Pretty => {
            let mut table = ui.table(&["run", "pipeline", "status", "started at", "cases", "done"]);
            for run in runs {
                let (cases, done) = (run.cases.to_string(), run.done.to_string());
                table.row([run.run, run.pipeline, run.status.to_string(), run.started_at.to_string(), cases, done]);
            }
            ui.out(&table.text());
        }
    }
    Ok(Exit::Ok)
}

/// The maximum number of waiting cases shown.
const MAX_WAITING: usize = 60;

/// Prints which answers cases wait for.
fn waiting(ui: &Ui, result: &RunResult) -> Result<(), SessionError> {
    if result.waits.is_empty() {
        return Ok(());
    }
    let mut table = ui.table(&["case", "waits at", "for", "request", "since"]);
    let mut left = MAX_WAITING;
    result.each(|case| {
        if let (Some(open), 1..) = (case.state.waits(), left) {
            left -= 1;
            let row =
                [case.case.id.clone(), open.node.to_string(), open.via.to_string(), open.id.to_string(), open.at.to_string()];
            table.row(row);
        }
        Ok(())
    })?;
    ui.out(&table.text());
    Ok(())
}
