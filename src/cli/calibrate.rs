//! `asterisk calibrate`.

use super::calibrate_view::{CalibrationFormat, print};
use super::run::via_of;
use super::{GlobalArgs, ProjectArgs};
use crate::calibrate::{CalibrateListener, CalibrateSpec, ScenarioSpec, calibrate as measure};
use crate::exit::Exit;
use crate::session::{RunSettings, SessionError, Via};
use crate::ui::Progress;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// Walk cases whose truth is known, and score what comes of them.
///
/// Every case goes through the real pipeline, with a store that is new; each project of a scenario has a memory of its own. The exit
/// code is 1 if a metric misses its bar, or if a verdict or root rule failed in every case in which it was evaluated.
#[derive(Debug, Args)]
#[command(
    after_help = "SCENARIO is a scenario in YAML (`asterisk schema scenario`) or JSON, or a file of labelled failures as `asterisk learn` reads it.\n\n\
                  Examples:\n  asterisk calibrate scenario.yaml\n  asterisk calibrate scenario.json --via stub\n  \
                  asterisk calibrate labels.json --launches launches --format json\n  \
                  asterisk calibrate scenario.yaml --compare heuristics"
)]
pub(super) struct CalibrateArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Who answers, in this order: `script`, `stub` (what the scenario itself expects), or an agent of `asterisk.yaml`; with
    /// NODE=NAME, one node.
    #[arg(long, visible_alias = "agent", value_name = "[NODE=]NAME[,NAME]")]
    via: Vec<String>,
    /// Walk the scenario so many times; metrics are then means.
    #[arg(long, value_name = "N", default_value = "1")]
    runs: NonZeroUsize,
    /// The most cases walked at the same time [default: a thread per processor].
    #[arg(long, value_name = "N")]
    parallel: Option<NonZeroUsize>,
    /// Compare with another directory of scripts, on the same cases.
    #[arg(long, value_name = "DIR")]
    compare: Option<PathBuf>,
    /// The seed of `state.chance`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The token budget of each launch.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Where results and stores are written [default: .asterisk/calibrate/SCENARIO].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep the stores of a scenario of several projects, for `asterisk explain`; that of a single project is always kept.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    project: ProjectArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: CalibrationFormat,
}

/// What a scenario is read with and scored by.
#[derive(Clone, Debug, Args)]
pub(super) struct ScenarioArgs {
    /// The scenario.
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// A directory with a launch per labelled failure, each named by its id.
    #[arg(long, value_name = "DIR")]
    launches: Option<PathBuf>,
    /// The pipeline [default: rca].
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
    /// The scorecard: data/scorecards/NAME.yaml [default: that of the pipeline].
    #[arg(long, value_name = "NAME")]
    scorecard: Option<String>,
    /// How many resamples the intervals are made of; 0 for no intervals.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    resamples: u16,
}

impl ScenarioArgs {
    pub(super) fn spec(&self) -> ScenarioSpec {
        ScenarioSpec {
            path: self.scenario.clone(),
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

pub(super) fn calibrate(global: &GlobalArgs, args: &CalibrateArgs) -> Result<Exit, SessionError> {
    let ui = &args.format.ui(global);
    let session = global.session(&args.project, None)?;
    let spec = CalibrateSpec {
        scenario: args.scenario.spec(),
        settings: RunSettings {
            via: via_of(&args.via, Via::default())?,
            seed: args.seed,
            budget: args.budget,
            ..RunSettings::default()
        },
        runs: args.runs.get(),
        parallel: args.parallel.or(available_parallelism().ok()).map_or(1, NonZeroUsize::get),
        out: args.out.clone(),
        keep: args.keep,
        compare: args.compare.clone(),
    };
    let shown = Shown(ui.progress(0));
    let report = measure(&session, &spec, &shown);
    shown.0.finish();
    print(ui, args.format, &report?, global.verbose > 0)
}
