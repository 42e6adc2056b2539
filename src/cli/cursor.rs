//! `asterisk cursor`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, plain};
use asterisk_base::model::shell;
use asterisk_session::{CheckedOutTasks, PendingTask, SessionError};
use clap::Args;
use serde_json::json;

/// Get the prompt of a step that waits for an answer.
///
/// The steps of a run started with `asterisk run --via manual`, and nodes with `via: manual`, wait until their answer is
/// submitted with `asterisk save`. The prompt is shown, and written to a file; the answer may be written next to it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk cursor\n  asterisk cursor --case-id 880501 --suite-id 20260214-212109-ab12cd\n  asterisk cursor --batch --format json"
)]
pub(super) struct CursorArgs {
    /// The case [default: the first one waiting].
    #[arg(long, value_name = "ID")]
    case_id: Option<String>,
    /// The suite: the id of the run.
    #[arg(long, value_name = "RUN", default_value = "latest")]
    suite_id: String,
    /// Get the prompts of all waiting cases: they are written to files and listed, with a manifest, a briefing, and a signal next
    /// to each prompt, as `batch-file` writes them.
    #[arg(long)]
    batch: bool,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn cursor(global: &GlobalArgs, args: &CursorArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let CheckedOutTasks { run, prompts: tasks, batch } =
        session.check_out(&args.suite_id, args.case_id.as_deref(), args.batch)?;
    match (ui.format(), tasks.as_slice()) {
        (OutputFormat::Json, tasks) => {
            let mut all = json!({ "schema_version": 1, "suite_id": run, "prompts": tasks });
            if let Some(batch) = batch {
                all["batch"] = json!(batch);
            }
            ui.json(&all);
        }
        (OutputFormat::Pretty, [one]) if !args.batch => {
            ui.note(&format!("{} of case {}; the prompt is in {}", one.step, one.case, one.prompt_path.display()));
            ui.out(plain(&one.prompt.replace('\t', "    ")).trim_end());
            ui.note(&format!("\nsubmit the answer with: {}", save(&run, one)));
        }
        (OutputFormat::Pretty, tasks) => {
            let mut table = ui.table(&["case", "step", "request", "prompt"]);
            for one in tasks {
                table.row([one.case.clone(), one.step.clone(), one.request.to_string(), one.prompt_path.display().to_string()]);
            }
            ui.out(&table.text());
            if let Some(batch) = batch {
                let (manifest, briefing) = (batch.manifest_path.display(), batch.briefing_path.display());
                ui.note(&format!("batch {}: {manifest}\nfindings so far: {briefing}", batch.batch_id));
            }
            if let Some(first) = tasks.first() {
                ui.note(&format!("submit each answer like this one: {}", save(&run, first)));
            }
        }
    }
    Ok(Exit::Ok)
}

/// The command that submits an answer.
fn save(run: &str, one: &PendingTask) -> String {
    format!(
        "asterisk save -f {} --case-id {} --suite-id {run}",
        shell(&one.artifact_path.display().to_string()),
        shell(&one.case)
    )
}
