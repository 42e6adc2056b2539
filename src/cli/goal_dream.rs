//! `asterisk goal dream`.

use super::run::{ViaArg, on_interrupt};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::OutputFormat;
use asterisk_session::{DreamWording, SessionError, Via};
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// Consolidate the memories of goals: drop faded ones and distil recurring ones.
///
/// The decisions are made by `scripts/lib/memory.rhai`. A dream is one transaction: it changes nothing if interrupted or
/// repeated. With `--via`, an agent words the distilled memories in a run of the `dream` pipeline, which is stored like any other.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk goal dream\n  asterisk goal dream --format json\n  asterisk goal dream --via claude,script --budget 50000"
)]
pub(super) struct DreamArgs {
    #[command(flatten)]
    via: ViaArg,
    /// The number of tokens that the agents may spend.
    #[arg(long, value_name = "TOKENS", requires = "via")]
    budget: Option<u64>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn dream(global: &GlobalArgs, args: &DreamArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&args.project, None)?;
    // Nothing is changed before all is worded, so an interrupt ends it at once.
    let _interrupted = on_interrupt(&global.environment, &Arc::default(), &Arc::default());
    let via = args.via.parse(Via::default())?;
    let wording = (!args.via.is_empty()).then_some(DreamWording { via: &via, budget: args.budget });
    let done = session.dream(wording.as_ref())?;
    for (memory, why) in &done.unworded {
        ui.note(&format!("{memory} keeps the wording of the scripts: {why}"));
    }
    if let Some(run) = &done.run {
        ui.note(&format!("the memories were worded in the run {run}"));
    }
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({
            "schema_version": 1, "seen": done.seen, "deleted": done.deleted, "changed": done.changed, "distilled": done.distilled,
            "run": done.run, "unworded": done.unworded.len(),
        })),
        OutputFormat::Pretty => ui.out(&format!(
            "{} memories: {} distilled, {} changed, {} dropped",
            done.seen, done.distilled, done.changed, done.deleted
        )),
    }
    Ok(Exit::Ok)
}
