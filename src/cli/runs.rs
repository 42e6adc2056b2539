//! `asterisk runs`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::OutputFormat;
use clap::Args;
use serde_json::json;

/// List the runs of the store, newest first.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  asterisk runs --format json")]
pub(super) struct RunsArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn runs(global: &GlobalArgs, args: RunsArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let runs = session.runs()?;
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "runs": runs })),
        OutputFormat::Pretty if runs.is_empty() => super::nothing_yet(ui, &session, "no runs yet; make one with: asterisk run"),
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
