//! `asterisk dream`.

use super::run::{on_interrupt, via_of};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::session::{DreamWording, SessionError, Via};
use crate::ui::OutputFormat;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// Consolidate the memories of goals: drop faded ones and distil recurring ones.
///
/// The decisions are made by `scripts/lib/memory.rhai`. A dream is one transaction: if interrupted, it has no effect, and a second one
/// changes nothing. With `--via`, what is distilled is worded in a run of the `dream` pipeline, which is stored like any other.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk dream\n  asterisk dream --format json\n  asterisk dream --via claude,script --budget 50000"
)]
pub(super) struct DreamArgs {
    /// Who words what is distilled, as for `asterisk run` [default: the scripts].
    #[arg(long, alias = "agent", value_name = "[NODE=]NAME")]
    via: Vec<String>,
    /// The token budget of the agents.
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
    let via = via_of(&args.via, Via::default())?;
    let wording = (!args.via.is_empty()).then_some(DreamWording { via: &via, budget: args.budget });
    let done = session.dream(wording.as_ref())?;
    for (memory, why) in &done.unworded {
        ui.note(&format!("{memory} keeps the scripts' text: {why}"));
    }
    if let Some(run) = &done.run {
        ui.note(&format!("the texts were worded in the run {run}"));
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
