//! `asterisk coverage`.

use super::explain::versioned;
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_decisions::{DecisionHistory, EdgeHistory, coverage as over_history};
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_session::SessionError;
use clap::Args;

/// Count how often every edge of past runs was evaluated, fired, failed, or was shadowed by another, and how often each rule of a
/// verdict matched, counted and decided, and each root rule decided.
///
/// An edge is shadowed if it was not evaluated because another fired first, but would have fired: its rule is evaluated now, on
/// the recorded inputs. `asterisk test --coverage` shows the coverage of tests.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk coverage\n  asterisk coverage latest --format json")]
pub(super) struct CoverageArgs {
    /// The runs; `latest` is the one started last [default: all of the store].
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Do not fail without recorded decisions.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn coverage(global: &GlobalArgs, args: &CoverageArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let history = over_history(&session, &args.runs)?;
    if history.decisions == 0 && history.passed_over.is_empty() && !args.allow_empty {
        let help = "start a run with: asterisk run (--allow-empty allows none)";
        let error = Diagnostic::error("coverage/nothing", "no decisions are recorded yet").help(help);
        return Err(SessionError::BadRequest(Box::new(error)));
    }
    if ui.format() == OutputFormat::Json {
        ui.json(&versioned(&history));
    } else {
        print(ui, &history);
    }
    for (run, why) in &history.passed_over {
        ui.note(&format!("skipped {run}: {why}"));
    }
    Ok(Exit::Ok)
}

/// The columns of the table.
const COLUMNS: [&str; 8] = ["from", "edge", "asked", "fired", "false", "error", "shadowed", ""];

/// The column of errors.
const ERROR: usize = 5;

fn print(ui: &Ui, history: &DecisionHistory) {
    for (index, pipeline) in history.pipelines.iter().enumerate() {
        let blank = if index > 0 { "\n" } else { "" };
        let (decisions, runs) = (counted(pipeline.decisions, "decision", "decisions"), counted(pipeline.runs, "run", "runs"));
        ui.out(&format!("{blank}{}: {decisions} in {runs}", pipeline.pipeline));
        // In most pipelines, no rule fails.
        let fails = pipeline.edges.iter().any(|edge| edge.error > 0);
        let shown =
            |cells: [String; 8]| cells.into_iter().enumerate().filter(move |(at, _)| fails || *at != ERROR).map(|(_, cell)| cell);
        let head: Vec<String> = shown(COLUMNS.map(str::to_owned)).collect();
        let mut table = ui.table(&head.iter().map(String::as_str).collect::<Vec<_>>());
        for edge in &pipeline.edges {
            table.row(shown(row(edge)));
        }
        ui.out(&table.text());
    }
    if history.verdicts > 0 {
        verdicts(ui, history);
    }
    if history.roots > 0 {
        roots(ui, history);
    }
}

fn verdicts(ui: &Ui, history: &DecisionHistory) {
    ui.out(&format!("\nverdicts: {}", history.verdicts));
    let mut table = ui.table(&["rule", "name", "spoke", "counted", "decisive", ""]);
    let of = |count: u64, whole: u64| if whole == 0 { String::new() } else { format!("{count}/{whole}") };
    for rule in &history.verdict_rules {
        table.row([
            rule.id.clone(),
            rule.name.clone(),
            of(rule.spoke, history.verdicts),
            of(rule.counted, rule.spoke),
            of(rule.decisive, rule.spoke),
            rule.remark().unwrap_or_default(),
        ]);
    }
    ui.out(&table.text());
}

fn roots(ui: &Ui, history: &DecisionHistory) {
    ui.out(&format!("\nroots: {}", history.roots));
    let mut table = ui.table(&["rule", "name", "decided", "causes", ""]);
    for rule in &history.root_rules {
        let decided = format!("{}/{}", rule.decided, history.roots);
        table.row([rule.id.clone(), rule.name.clone(), decided, rule.keys.to_string(), rule.remark().unwrap_or_default()]);
    }
    ui.out(&table.text());
}

fn row(edge: &EdgeHistory) -> [String; 8] {
    // A count needs its total.
    let of = |count: u64, whole: u64| if whole == 0 { String::new() } else { format!("{count}/{whole}") };
    let some = |count: u64, whole: u64| if count == 0 { String::new() } else { of(count, whole) };
    [
        edge.from.clone(),
        edge.edge.clone(),
        of(edge.evaluated, edge.decisions),
        of(edge.fired, edge.evaluated),
        some(edge.refused, edge.evaluated),
        some(edge.error, edge.evaluated),
        some(edge.shadowed, edge.not_reached),
        edge.remark().unwrap_or_default().to_owned(),
    ]
}
