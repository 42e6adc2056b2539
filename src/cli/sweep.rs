//! `asterisk sweep`.

use super::replay::{nothing, parallel};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::decisions::replay::ReplaySpec;
use crate::decisions::replay::sweep::{Scenario, SweepPoint, SweepReport, SweptVar, chart, shown, sweep_runs, sweep_scenario};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::files::read_input;
use crate::model::counted;
use crate::session::SessionError;
use crate::ui::{OutputFormat, Ui};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The maximum number of edge columns in a table.
const EDGES: usize = 6;

/// Try a range of values of a var on past runs or a scenario: what flips, which edges are taken, where nothing changes.
#[derive(Debug, Args)]
#[command(
    after_help = "A scenario is YAML or JSON: `cases: [{id, answers: {NODE: [artifact, ...]}}]`, walked on these answers, and\n\
                        `decisions: [{id, node, artifact, state, vars}]`, as `route --batch` takes them. Its flips are counted against the\n\
                        value of now.\n\n\
                        Examples:\n  asterisk sweep --var recall_hit=0.5..0.95:0.05\n  asterisk sweep latest --var max_investigate_loops=0,1,2,3\n  \
                        asterisk sweep --var recall_hit=0.5..0.95:0.05 --svg sweep.svg --format json"
)]
pub(super) struct SweepArgs {
    /// The var and its values, or a weight of the verdict (`RULE.DEFECT`, `SIGNATURE.DEFECT`, `priors.DEFECT`): a range A..B:STEP, comma-separated values, or both.
    #[arg(long, value_name = "NAME=VALUES")]
    var: String,
    /// The runs; `latest` is the one started last [default: all].
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// A scenario instead of runs; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    scenario: Option<PathBuf>,
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
    let ui = global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let var = SweptVar::parse(&args.var).map_err(SessionError::BadRequest)?;
    let swept = match &args.scenario {
        Some(path) => {
            let scenario = Scenario::parse(&read_input(path)?)?;
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

fn versioned(swept: &SweepReport) -> Value {
    let mut value = json!(swept);
    value["schema_version"] = json!(1);
    value
}

fn print(ui: Ui, swept: &SweepReport) {
    let moving: Vec<&str> = swept.moving().into_iter().take(EDGES).collect();
    let unknown = swept.points.iter().any(|point| point.unknown > 0);
    let mut columns = vec![swept.var.as_str(), "flips"];
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
            table.row(row(point, unknown, &moving, mark));
        }
    }
    ui.out(&table.text());
    let of = if swept.runs.is_empty() { String::new() } else { format!(" of {}", counted(swept.runs.len(), "run", "runs")) };
    let now = swept.plateaus.iter().find(|plateau| plateau.current && plateau.values > 1);
    let tail = match now {
        _ if moving.is_empty() => "; no edge is taken more or less often".to_owned(),
        Some(now) => format!("; as now from {} to {}", shown(&now.from), shown(&now.to)),
        None => String::new(),
    };
    if unknown {
        ui.out("\nunknown: cases that come to a node of which no answer is known");
    }
    ui.out(&format!(
        "\n{}{of}, {}{tail}",
        counted(swept.cases, "case", "cases"),
        counted(swept.plateaus.len(), "plateau", "plateaus")
    ));
}

fn row(point: &SweepPoint, unknown: bool, moving: &[&str], mark: &str) -> Vec<String> {
    let mut cells = vec![shown(&point.value), point.flips.to_string()];
    cells.extend(unknown.then(|| point.unknown.to_string()));
    cells.extend(moving.iter().map(|edge| point.edges.get(*edge).copied().unwrap_or(0).to_string()));
    cells.push(mark.to_owned());
    cells.push(if point.current { "<- now".to_owned() } else { String::new() });
    cells
}
