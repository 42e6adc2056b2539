//! `asterisk status`.

use super::{FormatArg, Global, ProjectArgs, run_table};
use crate::exit::Exit;
use crate::report;
use crate::session::SessionError;
use crate::ui::Format;
use crate::walk::Status;
use clap::Args;

/// Show how far a run is, case by case.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk status\n  asterisk status 20260214-212109-ab12cd")]
pub(super) struct StatusArgs {
    /// The run.
    #[arg(default_value = "latest")]
    run: String,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn status(global: &Global, args: &StatusArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let result = session.result(&args.run)?;
    match ui.format() {
        Format::Json => ui.json(&result.summary()),
        Format::Pretty => {
            let (report, trouble) = report::build(&result, None)?;
            ui.diagnostics(&trouble);
            run_table::print(ui, &report, &result);
            if matches!(result.status, Status::Paused | Status::Running) {
                ui.note(&format!("not finished; go on with: asterisk run --resume {}", result.run));
            }
        }
    }
    Ok(Exit::Ok)
}
