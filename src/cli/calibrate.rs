//! `asterisk calibrate`.

use super::calibrate_view::{CalibrationFormat, print};
use super::profile_arg::ProfileArg;
use super::run::ViaArg;
use super::{GlobalArgs, ParallelArg, ProjectArgs, calibrate_truth};
use crate::exit::Exit;
use crate::ui::Progress;
use asterisk_calibrate::{CalibrateListener, CalibrateSpec, ScenarioSpec, ScoreSpec, calibrate as measure, score as rescore};
use asterisk_session::{RunSettings, SessionError, Via};
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Walk cases with known causes, and score the results.
///
/// Every case goes through the real pipeline, with an empty store; each project of a scenario has its own memory. The exit
/// code is 1 if a metric misses its threshold, or if a verdict or root rule failed in every case in which it was evaluated.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "SCENARIO is a scenario in YAML (`asterisk doc --schema scenario`) or JSON, or a file of labelled failures as `asterisk learn` reads it.\n\n\
                  Examples:\n  asterisk calibrate scenario.yaml\n  asterisk calibrate scenario.json --via stub\n  \
                  asterisk calibrate labels.json --launches launches --format json\n  \
                  asterisk calibrate scenario.yaml --compare heuristics\n  \
                  asterisk calibrate score scenario.yaml .asterisk/calibrate/scenario/results.jsonl"
)]
pub(super) struct CalibrateArgs {
    #[command(subcommand)]
    command: Option<CalibrateCommand>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    #[command(flatten)]
    via: ViaArg,
    /// The number of walks of the scenario; metrics are means over them.
    #[arg(long, value_name = "N", default_value = "1")]
    runs: NonZeroUsize,
    #[command(flatten)]
    parallel: ParallelArg,
    /// Compare with another directory of scripts, on the same cases.
    #[arg(long, value_name = "DIR")]
    compare: Option<PathBuf>,
    /// The seed of `state.chance`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of tokens that the agents may spend on each launch.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// The output directory of results and stores [default: .asterisk/calibrate/SCENARIO].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep the stores of a scenario of several projects, for `asterisk explain`; that of a single project is always kept.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    profile: ProfileArg,
    #[command(flatten)]
    project: ProjectArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: CalibrationFormat,
}

#[derive(Debug, Subcommand)]
enum CalibrateCommand {
    Score(ScoreArgs),
    Truth(calibrate_truth::TruthArgs),
}

/// Score results again, without walking.
///
/// Results are the results.jsonl of `asterisk calibrate`, or a list of JSON objects, each with a `case_id`. The exit code is 1 if a
/// metric misses its threshold.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  asterisk calibrate score scenario.yaml .asterisk/calibrate/scenario/results.jsonl")]
struct ScoreArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The results, a file for each run.
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// The results are from canned answers: ignore metrics that the scenario exempts for those.
    #[arg(long)]
    canned: bool,
    #[command(flatten)]
    project: ProjectArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: CalibrationFormat,
}

/// The inputs of a scenario and its scoring.
#[derive(Clone, Debug, Args)]
struct ScenarioArgs {
    /// The scenario.
    #[arg(value_name = "SCENARIO", required = true)]
    scenario: Option<PathBuf>,
    /// For labelled failures: a directory with one launch per case, named by the case's id.
    #[arg(long, value_name = "DIR")]
    launches: Option<PathBuf>,
    /// The pipeline: a path, a file stem, or a `pipeline:` name [default: rca].
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
    /// The scorecard: data/scorecards/NAME.yaml [default: that of the pipeline].
    #[arg(long, value_name = "NAME")]
    scorecard: Option<String>,
    /// The number of resamples for the intervals; 0 for no intervals.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    resamples: u16,
}

impl ScenarioArgs {
    fn spec(&self) -> ScenarioSpec {
        ScenarioSpec {
            // Only absent where a subcommand replaces it.
            path: self.scenario.clone().unwrap_or_default(),
            launches: self.launches.clone(),
            pipeline: self.pipeline.clone(),
            scorecard: self.scorecard.clone(),
            resamples: usize::from(self.resamples),
        }
    }
}

/// Shows the progress.
struct Shown(Progress);

impl CalibrateListener for Shown {
    fn begin(&self, cases: usize) {
        self.0.begin("", cases);
    }

    fn walked(&self, case: &str) {
        self.0.step(case);
    }
}

fn score(global: &GlobalArgs, args: &ScoreArgs) -> Result<Exit, SessionError> {
    let ui = &args.format.ui(global);
    let session = global.session(&args.project, None)?;
    let spec = ScoreSpec { scenario: args.scenario.spec(), results: args.results.clone(), canned: args.canned };
    print(ui, args.format, &rescore(&session, &spec)?, global.verbose > 0)
}

pub(super) fn calibrate(global: &GlobalArgs, args: &CalibrateArgs) -> Result<Exit, SessionError> {
    match &args.command {
        Some(CalibrateCommand::Score(args)) => return score(global, args),
        Some(CalibrateCommand::Truth(args)) => return calibrate_truth::truth(global, args),
        None => {}
    }
    let ui = &args.format.ui(global);
    let session = global.session(&args.project, None)?;
    let spec = CalibrateSpec {
        scenario: args.scenario.spec(),
        settings: RunSettings {
            via: args.via.parse(Via::default())?,
            seed: args.seed,
            budget: args.budget,
            ..RunSettings::default()
        },
        runs: args.runs.get(),
        parallel: args.parallel.count(),
        out: args.out.clone(),
        keep: args.keep,
        compare: args.compare.clone(),
    };
    let shown = Shown(ui.progress(0));
    let report = args.profile.measured(ui, || {
        let report = measure(&session, &spec, &shown);
        shown.0.finish();
        report
    });
    print(ui, args.format, &report?, global.verbose > 0)
}
