//! `asterisk blame`.

use super::explain::{cases, versioned};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::decisions::{StepQuery, blame as blamed, blame_page};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::OutputFormat;
use clap::Args;

/// Show what decided the path of a case: the rule, the line, the version of its text, and in a git checkout the commit.
///
/// The texts are those that the run used, from the store. With --step the whole rule is shown.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk blame latest --case 880501\n  asterisk blame latest --case 880501 --step F0")]
pub(super) struct BlameArgs {
    /// The run; `latest` is the one started last.
    run: String,
    /// The case; by default the only one, or a list of the cases if there are several.
    #[arg(long, value_name = "ID")]
    case: Option<String>,
    /// The step, by its path in the record, or by its node's name or code (all visits).
    #[arg(long, value_name = "PATH")]
    step: Option<String>,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn blame(global: &GlobalArgs, args: &BlameArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let query = StepQuery { run: args.run.clone(), case: args.case.clone(), step: args.step.clone() };
    match blamed(&session, &query)? {
        Err(list) => cases(ui, &list, "blame"),
        Ok(blame) if ui.format() == OutputFormat::Json => ui.json(&versioned(&blame)),
        Ok(blame) => ui.page(&blame_page(&blame, ui.width())),
    }
    Ok(Exit::Ok)
}
