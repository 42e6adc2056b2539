//! `asterisk rca`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::OutputFormat;
use clap::{Args, ValueEnum};
use serde_json::json;

/// Record the new status of a root cause: resolved, verified, archived, reopened.
///
/// Later runs use it: if the root cause is found again, that is a regression. A person's statement takes precedence over a run's.
/// A root cause that is resolved, verified or archived keeps its status when it is found in a later launch, and is shown as
/// having come back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  asterisk rca 4711 resolve --message \"mended in 3.4.0\" --by ada")]
pub(super) struct RcaArgs {
    /// The root cause, as `asterisk show rcas` lists it.
    #[arg(allow_negative_numbers = true)]
    id: i64,
    /// The new status.
    #[arg(value_enum)]
    became: RcaChange,
    /// The reason.
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    message: String,
    /// Who decided.
    #[arg(long, value_name = "NAME", default_value = "human")]
    by: String,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RcaChange {
    /// Fixed.
    Resolve,
    /// Confirmed to be fixed.
    Verify,
    /// No longer of interest.
    Archive,
    /// Present (again).
    Reopen,
}

impl RcaChange {
    fn status(self) -> &'static str {
        match self {
            Self::Resolve => "resolved",
            Self::Verify => "verified",
            Self::Archive => "archived",
            Self::Reopen => "open",
        }
    }
}

pub(super) fn rca(global: &GlobalArgs, args: &RcaArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let before = session.say_of_rca(args.id, args.became.status(), &args.by, &args.message)?;
    match ui.format() {
        OutputFormat::Json => {
            let rca = json!({ "id": args.id, "title": before.title, "was": before.status, "status": args.became.status(),
                "by": args.by, "message": args.message });
            ui.json(&json!({ "schema_version": 1, "rca": rca }));
        }
        OutputFormat::Pretty => {
            ui.out(&format!("root cause {} ({}): {} -> {}", args.id, before.title, before.status, args.became.status()));
        }
    }
    Ok(Exit::Ok)
}
