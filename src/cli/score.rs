//! `asterisk score`.

use super::calibrate::ScenarioArgs;
use super::calibrate_view::{CalibrationFormat, print};
use super::{GlobalArgs, ProjectArgs};
use crate::calibrate::{ScoreSpec, score as rescore};
use crate::exit::Exit;
use crate::session::SessionError;
use clap::Args;
use std::path::PathBuf;

/// Score results again, without walking.
///
/// Results are what `asterisk calibrate` leaves in results.jsonl, or a list of JSON objects, each with a `case_id`. The exit code is 1
/// if a metric misses its bar.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  asterisk score scenario.yaml .asterisk/calibrate/scenario/results.jsonl")]
pub(super) struct ScoreArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The results, a file for each run.
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// The results are of canned answers: metrics that the scenario exempts from those are not judged.
    #[arg(long)]
    canned: bool,
    #[command(flatten)]
    project: ProjectArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: CalibrationFormat,
}

pub(super) fn score(global: &GlobalArgs, args: &ScoreArgs) -> Result<Exit, SessionError> {
    let ui = &args.format.ui(global);
    let session = global.session(&args.project, None)?;
    let spec = ScoreSpec { scenario: args.scenario.spec(), results: args.results.clone(), canned: args.canned };
    print(ui, args.format, &rescore(&session, &spec)?, global.verbose > 0)
}
