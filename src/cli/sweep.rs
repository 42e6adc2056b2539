//! `asterisk sweep`.

use super::replay::{nothing, parallel};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::calibrate::{CalibrateListener, ScenarioSpec, TuneSpec, TunedSetting, is_scenario, tune};
use crate::decisions::replay::ReplaySpec;
use crate::decisions::replay::sweep::{Scenario, SweepPoint, SweepReport, SweptVar, chart, shown, sweep_runs, sweep_scenario};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::files::read_input;
use crate::model::counted;
use crate::session::{Session, SessionError, Via};
use crate::ui::{OutputFormat, Ui};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// The maximum number of edge columns in a table.
const EDGES: usize = 6;

/// Try a range of values of a var on past runs or a scenario: what flips, which edges are taken, where nothing changes.
#[derive(Debug, Args)]
#[command(
    after_help = "A scenario is YAML or JSON: `cases: [{id, answers: {NODE: [artifact, ...]}}]`, walked on these answers, and\n\
                        `decisions: [{id, node, artifact, state, vars}]`, as `route --batch` takes them. Its flips are counted against the\n\
                        value of now.\n\n\
                        A scenario of failures whose truth is known, as `calibrate` takes it, is walked with every value: a metric of its\n\
                        scorecard is the curve, and stands beside it for the cases that are held out: --scenario FILE --var decide_floor=0.3,0.5 --search.\n\n\
                        Examples:\n  asterisk sweep --var recall_hit=0.6..0.9:0.1\n  asterisk sweep latest --var max_investigate_loops=0,1,2,3\n  \
                        asterisk sweep latest --var recall_hit=0.5..0.95:0.05 --svg sweep.svg --format json"
)]
pub(super) struct SweepArgs {
    /// The var and its values, or a weight of the verdict (`RULE.DEFECT`, `SIGNATURE.DEFECT`, `priors.DEFECT`): a range A..B:STEP,
    /// comma-separated values, or both. May be repeated with a scenario of failures.
    #[arg(long, value_name = "NAME=VALUES", required = true)]
    var: Vec<String>,
    /// The runs; `latest` is the one started last [default: all].
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// A scenario instead of runs; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    scenario: Option<PathBuf>,
    /// With a scenario of failures: the scorecard metric to measure, by id [default: the primary one].
    #[arg(long, value_name = "ID", requires = "scenario")]
    metric: Option<String>,
    /// With a scenario of failures: search for the best combination of all `--var`, varying one at a time, on the cases that are not held
    /// out.
    #[arg(long, requires = "scenario")]
    search: bool,
    /// With labelled failures as the scenario: a directory with one launch per case, named by the case's id.
    #[arg(long, value_name = "DIR", requires = "scenario")]
    launches: Option<PathBuf>,
    /// The pipeline to use: a path, a file stem, or a `pipeline:` name [default: the current version of each run's own].
    #[arg(long, value_name = "FILE")]
    pipeline: Option<String>,
    /// Write a chart.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The number of cases evaluated at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// Do not fail if there is nothing to evaluate.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn sweep(global: &GlobalArgs, args: &SweepArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let mut vars =
        args.var.iter().map(|var| SweptVar::parse(var)).collect::<Result<Vec<_>, _>>().map_err(SessionError::BadRequest)?;
    let file = args.scenario.as_deref().map(|path| read_input(path, global.environment.input())).transpose()?;
    if let (Some(path), Some(file)) = (&args.scenario, &file)
        && is_scenario(file)
    {
        return tuned(ui, &session, args, (path.as_path(), vars));
    }
    let scenario_only = args.metric.is_some() || args.search || args.launches.is_some();
    let (Some(var), true) = (vars.pop(), vars.is_empty() && !scenario_only) else {
        let message = "several `--var`, `--metric`, `--search` and `--launches` need a scenario of failures";
        let help = "`asterisk schema scenario` describes it; examples/scenarios has one".to_owned();
        return Err(SessionError::bad_request("sweep/scenario", message, Some(help)));
    };
    let swept = match &file {
        Some(file) => {
            let scenario = Scenario::parse(file)?;
            sweep_scenario(&session, &scenario, args.pipeline.as_deref(), var)?
        }
        None => {
            let (runs, pipeline) = (args.runs.clone(), args.pipeline.clone());
            sweep_runs(&session, &ReplaySpec { runs, pipeline, parallel: parallel(args.parallel) }, var)?
        }
    };
    for (run, why) in &swept.left_out {
        ui.note(&format!("run {run} is left out: {why}"));
    }
    if swept.cases == 0 && !args.allow_empty {
        return Err(nothing());
    }
    match ui.format() {
        OutputFormat::Json => ui.json(&versioned(&swept)),
        OutputFormat::Pretty => print(ui, &swept),
    }
    if let Some(path) = &args.svg {
        let failed = |error| {
            let message = format!("cannot write `{}`: {error}", path.display());
            SessionError::BadRequest(Box::new(Diagnostic::error("output/file", message).help("--svg names another file")))
        };
        std::fs::write(path, chart(&swept)).map_err(failed)?;
        ui.note(&format!("chart: {}", path.display()));
    }
    Ok(Exit::Ok)
}

/// Sweeps over a scenario of failures with known ground truth.
fn tuned(ui: &Ui, session: &Session, args: &SweepArgs, (path, vars): (&Path, Vec<SweptVar>)) -> Result<Exit, SessionError> {
    if args.svg.is_some() {
        let help = "--format json has the points".to_owned();
        return Err(SessionError::bad_request("sweep/svg", "`--svg` draws sweeps over runs", Some(help)));
    }
    let setting = |var: SweptVar| TunedSetting { name: var.name, values: var.values };
    let spec = TuneSpec {
        scenario: ScenarioSpec {
            path: path.to_owned(),
            launches: args.launches.clone(),
            pipeline: args.pipeline.clone(),
            scorecard: None,
            resamples: 0,
        },
        via: Via::default(),
        parallel: args.parallel.map(usize::from).or_else(|| available_parallelism().ok().map(usize::from)).unwrap_or(1),
        settings: vars.into_iter().map(setting).collect(),
        metric: args.metric.clone(),
        search: args.search,
    };
    let report = tune(session, &spec, &SilentTuning)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&report);
        return Ok(Exit::Ok);
    }
    let name = report.name.replace('_', " ");
    let seen = report.cases - report.held_out;
    ui.out(&format!(
        "{}: {} {name}, {} ({} held out)\n",
        report.scenario,
        report.metric,
        counted(seen, "case", "cases"),
        report.held_out
    ));
    let mut table = ui.table(&["settings", "tuned on", "held out", "", ""]);
    let number = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3}"));
    for (place, point) in report.points.iter().enumerate() {
        let settings: Vec<String> = point.settings.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
        let settings = if settings.is_empty() { "as now".to_owned() } else { settings.join(" ") };
        let mark = if report.best == Some(place) { "<- best" } else { "" };
        table.row([settings, number(point.value), number(point.held_out), bar(point.value), mark.to_owned()]);
    }
    ui.out(&table.text());
    if report.held_out == 0 {
        ui.out("\nno case is held out (`hold_out: true`): the best value may merely be learnt by heart");
    }
    Ok(Exit::Ok)
}

/// A listener that reports no progress.
struct SilentTuning;

impl CalibrateListener for SilentTuning {}

/// Draws a share as a bar of at most twenty cells.
fn bar(value: Option<f64>) -> String {
    let cells = value.filter(|value| (0.0..=1.0).contains(value)).map_or(0.0, |value| (value * 20.0).round());
    (0..20).filter(|cell| f64::from(*cell) < cells).map(|_| '#').collect()
}

fn versioned(swept: &SweepReport) -> Value {
    let mut value = json!(swept);
    value["schema_version"] = json!(1);
    value
}

fn print(ui: &Ui, swept: &SweepReport) {
    let moving: Vec<&str> = swept.moving().into_iter().take(EDGES).collect();
    let unknown = swept.points.iter().any(|point| point.unknown > 0);
    let verdicts = swept.points.iter().any(|point| point.verdicts > 0);
    let mut columns = vec![swept.var.as_str(), "flips"];
    columns.extend(verdicts.then_some("verdicts"));
    columns.extend(unknown.then_some("unknown"));
    columns.extend(&moving);
    columns.extend(["plateau", ""]);
    let mut table = ui.table(&columns);
    let mut points = swept.points.iter();
    for plateau in &swept.plateaus {
        let range = format!("{} to {}", shown(&plateau.from), shown(&plateau.to));
        for (index, point) in points.by_ref().take(plateau.values).enumerate() {
            let mark = match (plateau.values, index) {
                (1, _) => "",
                (_, 0) => &range,
                _ => "|",
            };
            table.row(row(point, (verdicts, unknown), &moving, mark));
        }
    }
    ui.out(&table.text());
    let of = if swept.runs.is_empty() { String::new() } else { format!(" of {}", counted(swept.runs.len(), "run", "runs")) };
    let now = swept.plateaus.iter().find(|plateau| plateau.current && plateau.values > 1);
    let tail = match now {
        _ if moving.is_empty() && !verdicts => "; no edge is taken more or less often".to_owned(),
        Some(now) => format!("; as now from {} to {}", shown(&now.from), shown(&now.to)),
        None => String::new(),
    };
    if verdicts {
        ui.out("\nverdicts: cases whose verdict names another defect than the record");
    }
    if unknown {
        ui.out("\nunknown: cases that come to a node of which no answer is known");
    }
    ui.out(&format!(
        "\n{}{of}, {}{tail}",
        counted(swept.cases, "case", "cases"),
        counted(swept.plateaus.len(), "plateau", "plateaus")
    ));
}

fn row(point: &SweepPoint, (verdicts, unknown): (bool, bool), moving: &[&str], mark: &str) -> Vec<String> {
    let mut cells = vec![shown(&point.value), point.flips.to_string()];
    cells.extend(verdicts.then(|| point.verdicts.to_string()));
    cells.extend(unknown.then(|| point.unknown.to_string()));
    cells.extend(moving.iter().map(|edge| point.edges.get(*edge).copied().unwrap_or(0).to_string()));
    cells.push(mark.to_owned());
    cells.push(if point.current { "<- now".to_owned() } else { String::new() });
    cells
}
