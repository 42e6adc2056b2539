//! `asterisk status`.

use super::{FormatArg, GlobalArgs, ProjectArgs, run_table, run_view};
use crate::exit::Exit;
use crate::report;
use crate::session::{RunResult, SessionError};
use crate::ui::{OutputFormat, Ui};
use crate::walk::WalkStatus;
use clap::Args;

/// Show the progress of a run, case by case.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk status\n  asterisk status 20260214-212109-ab12cd")]
pub(super) struct StatusArgs {
    /// The run, or `latest`.
    #[arg(default_value = "latest")]
    run: String,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn status(global: &GlobalArgs, args: &StatusArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let result = session.result(&args.run)?;
    let mut damaged = result.has_damage();
    match ui.format() {
        OutputFormat::Json => ui.json(&result.summary()),
        OutputFormat::Pretty => {
            let (report, diagnostics) = report::build(&result, || Ok(None))?;
            ui.diagnostics(&diagnostics);
            damaged |= diagnostics.has_errors();
            run_table::print(ui, &report, &result);
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
