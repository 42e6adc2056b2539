//! `asterisk replay --sweep`.

use super::GlobalArgs;
use super::explain::versioned;
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_calibrate::{CalibrateListener, ScenarioSpec, TuneSpec, TunedSetting, is_scenario, tune};
use asterisk_decisions::replay::ReplaySpec;
use asterisk_decisions::replay::sweep::{Scenario, SweepPoint, SweepReport, SweptVar, chart, shown, sweep_runs, sweep_scenario};
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_files::read_input;
use asterisk_session::{Session, SessionError, Via};
use clap::Args;
use std::path::{Path, PathBuf};

/// The maximum number of edge columns in a table.
const EDGES: usize = 6;

/// The flags of `--sweep`.
#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// Try these values of a var, or of a weight of the verdict (`RULE.DEFECT`, `SIGNATURE.DEFECT`, `priors.DEFECT`): a range
    /// A..B:STEP, comma-separated values, or both. May be repeated with a scenario of labelled failures.
    #[arg(long, value_name = "NAME=VALUES")]
    sweep: Vec<String>,
    /// Sweep over a scenario instead of runs; `-` for standard input.
    #[arg(long, value_name = "FILE", requires = "sweep", conflicts_with = "runs")]
    scenario: Option<PathBuf>,
    /// With labelled failures: the scorecard metric to measure, by id [default: the primary one].
    #[arg(long, value_name = "ID", requires = "scenario")]
    metric: Option<String>,
    /// With labelled failures: search for the best combination of all --sweep, varying one at a time, on the cases that are not
    /// held out.
    #[arg(long, requires = "scenario")]
    search: bool,
    /// For labelled failures: a directory with one launch per case, named by the case's id.
    #[arg(long, value_name = "DIR", requires = "scenario")]
    launches: Option<PathBuf>,
    /// Write a chart of the sweep.
    #[arg(long, value_name = "FILE", requires = "sweep")]
    svg: Option<PathBuf>,
}

impl SweepArgs {
    pub(super) fn is_given(&self) -> bool {
        !self.sweep.is_empty()
    }
}

/// The error without decisions to evaluate.
pub(super) fn nothing() -> SessionError {
    let help = "`asterisk status` lists the runs of the store; --allow-empty accepts this";
    SessionError::BadRequest(Box::new(Diagnostic::error("replay/nothing", "no decisions to re-evaluate").help(help)))
}

pub(super) fn sweep(
    ui: &Ui,
    global: &GlobalArgs,
    session: &Session,
    args: &SweepArgs,
    query: &ReplaySpec,
    allow_empty: bool,
) -> Result<Exit, SessionError> {
    let SweepArgs { sweep, scenario, metric, search, launches, svg } = args;
    let mut vars =
        sweep.iter().map(|var| SweptVar::parse(var)).collect::<Result<Vec<_>, _>>().map_err(SessionError::BadRequest)?;
    let file = scenario.as_deref().map(|path| read_input(path, global.environment.input())).transpose()?;
    if let (Some(path), Some(file)) = (scenario, &file)
        && is_scenario(file)
    {
        return tuned(ui, session, args, query, (path.as_path(), vars));
    }
    let labelled_only = metric.is_some() || *search || launches.is_some();
    let (Some(var), true) = (vars.pop(), vars.is_empty() && !labelled_only) else {
        let message = "several `--sweep`, `--metric`, `--search` and `--launches` need a scenario of labelled failures";
        let help = "`asterisk doc --schema scenario` describes it; examples/scenarios has one".to_owned();
        return Err(SessionError::bad_request("sweep/scenario", message, Some(help)));
    };
    let swept = match &file {
        Some(file) => {
            let scenario = Scenario::parse(file)?;
            sweep_scenario(session, &scenario, query.pipeline.as_deref(), var)?
        }
        None => sweep_runs(session, query, var)?,
    };
    for (run, why) in &swept.left_out {
        ui.note(&format!("skipped run {run}: {why}"));
    }
    if swept.cases == 0 && !allow_empty {
        return Err(nothing());
    }
    match ui.format() {
        OutputFormat::Json => ui.json(&versioned(&swept)),
        OutputFormat::Pretty => print(ui, &swept),
    }
    if let Some(path) = svg {
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
fn tuned(
    ui: &Ui,
    session: &Session,
    args: &SweepArgs,
    query: &ReplaySpec,
    (path, vars): (&Path, Vec<SweptVar>),
) -> Result<Exit, SessionError> {
    if args.svg.is_some() {
        let help = "--format json has the points".to_owned();
        return Err(SessionError::bad_request("sweep/svg", "`--svg` draws sweeps over runs", Some(help)));
    }
    let setting = |var: SweptVar| TunedSetting { name: var.name, values: var.values };
    let spec = TuneSpec {
        scenario: ScenarioSpec {
            path: path.to_owned(),
            launches: args.launches.clone(),
            pipeline: query.pipeline.clone(),
            scorecard: None,
            resamples: 0,
        },
        via: Via::default(),
        parallel: query.parallel,
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
        ui.out("\nno case is held out (`hold_out: true`): the best value may be overfitted");
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
        ui.out("\nverdicts: cases whose verdict differs from the recorded defect");
    }
    if unknown {
        ui.out("\nunknown: cases that reach a node without a known answer");
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
