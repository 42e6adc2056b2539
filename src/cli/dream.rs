//! `asterisk dream`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::OutputFormat;
use clap::Args;
use serde_json::json;

/// Consolidate the memories of goals: drop faded ones and distil recurring ones.
///
/// The decisions are made by `scripts/lib/memory.rhai`. A dream is one transaction: if interrupted, it has no effect, and a second one
/// changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk dream\n  asterisk dream --format json")]
pub(super) struct DreamArgs {
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn dream(global: &GlobalArgs, args: &DreamArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let done = session.dream()?;
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({
            "schema_version": 1, "seen": done.seen, "deleted": done.deleted, "changed": done.changed, "distilled": done.distilled,
        })),
        OutputFormat::Pretty => ui.out(&format!(
            "{} memories: {} distilled, {} changed, {} dropped",
            done.seen, done.distilled, done.changed, done.deleted
        )),
    }
    Ok(Exit::Ok)
}
