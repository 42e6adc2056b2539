//! `asterisk replay`.

use super::profile_arg::ProfileArg;
use super::replay_sweep::{SweepArgs, nothing};
use super::run::print_failed_rules;
use super::{FormatArg, GlobalArgs, ParallelArg, ProjectArgs, replay_sweep};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_decisions::replay::{
    ChangedAnswer, ChangedEffects, ChangedVerdict, Flip, ReplayReport, ReplaySpec, UnknownOutcome, replay as decide_again,
};
use asterisk_diag::counted;
use asterisk_session::SessionError;
use clap::Args;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of flips and unknown outcomes printed.
const SHOWN: usize = 100;

/// Re-evaluate past decisions with edited scripts, pipeline or vars, and list those that flip.
///
/// With --sweep, try a range of values instead, on past runs or a scenario: what flips, which edges are taken, and where nothing
/// changes.
#[derive(Debug, Args)]
#[command(after_help = "Every case is walked again on the recorded answers; no agent is called, and nothing is written.\n\
                        Scripted answers and verdicts are re-evaluated where their inputs have changed; the\n\
                        results of queries are the recorded ones. Answers of agents are kept as long as their\n\
                        prompts would have been the same; the rest is unknown.\n\n\
                        A scenario of --sweep is YAML or JSON: `cases: [{id, answers: {NODE: [artifact, ...]}}]`, walked on these answers,\n\
                        and `decisions: [{id, node, artifact, state, vars}]`, as `asterisk eval route --batch` takes them. Its flips are\n\
                        counted against the current value. A scenario of labelled failures, as `asterisk calibrate` takes it, is walked with\n\
                        every value, and measured by a metric of its scorecard, separately for the cases that are held out.\n\n\
                        Examples:\n  asterisk replay --set recall_hit=0.9\n  asterisk replay latest --pipeline rca --max-flips 0\n  \
                        asterisk replay --format json\n  asterisk replay --sweep recall_hit=0.6..0.9:0.1\n  \
                        asterisk replay latest --sweep max_investigate_loops=0,1,2,3 --svg sweep.svg")]
pub(super) struct ReplayArgs {
    /// The runs; `latest` is the one started last [default: all].
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// The pipeline to use: a path, a file stem, or a `pipeline:` name [default: for each run, the current version of its own].
    /// Without RUN, replays the runs of this pipeline.
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
    /// Exit with 1 if more decisions and verdicts than this flip.
    #[arg(long, value_name = "N", conflicts_with = "sweep")]
    max_flips: Option<usize>,
    #[command(flatten)]
    sweep: SweepArgs,
    #[command(flatten)]
    parallel: ParallelArg,
    /// Do not fail if there is nothing to evaluate.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    profile: ProfileArg,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn replay(global: &GlobalArgs, args: &ReplayArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let query = ReplaySpec { runs: args.runs.clone(), pipeline: args.pipeline.clone(), parallel: args.parallel.count() };
    if args.sweep.is_given() {
        return args.profile.measured(ui, || replay_sweep::sweep(ui, global, &session, &args.sweep, &query, args.allow_empty));
    }
    let clock = session.setup().clock.clone();
    let began = clock.now();
    let done = args.profile.measured(ui, || decide_again(&session, &query))?;
    let took = clock.now().seconds_since(began);
    for (run, why) in &done.left_out {
        ui.note(&format!("skipped run {run}: {why}"));
    }
    if done.decisions == 0 && !args.allow_empty {
        return Err(nothing());
    }
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({
            "schema_version": 1,
            "runs": done.runs,
            "cases": done.cases,
            "decisions": done.decisions,
            "changed": done.changed,
            "flips": done.flips,
            "totals": done.totals(),
            "answers": done.answers,
            "verdicts": {
                "made": done.verdicts,
                "changed": done.changed_verdicts,
                "moved": done.moved_verdicts,
                "failed_rules": done.failed_rules,
            },
            "effects": done.effects,
            "unknown": done.unknown,
        })),
        OutputFormat::Pretty => print(ui, &done, took),
    }
    print_failed_rules(ui, &done.failed_rules);
    let most = args.max_flips.unwrap_or(usize::MAX);
    let flips = done.flips.len() + done.changed_verdicts.len();
    if flips > most {
        ui.note(&format!("{}; --max-flips allows {most}", counted(flips, "flip", "flips")));
        return Ok(Exit::Findings);
    }
    Ok(Exit::Ok)
}

fn print(ui: &Ui, done: &ReplayReport, took: f64) {
    changed(ui, done);
    if !done.flips.is_empty() {
        flips(ui, done);
        let mut table = ui.table(&["rule", "lost", "won"]);
        done.totals()
            .iter()
            .for_each(|(rule, total)| table.row([(*rule).to_owned(), total.lost.to_string(), total.won.to_string()]));
        ui.out("");
        ui.out(&table.text());
    }
    if !done.changed_verdicts.is_empty() {
        verdicts(ui, done, "verdict", done.changed_verdicts.iter());
    }
    if !done.moved_verdicts.is_empty() {
        let mut moved: Vec<&ChangedVerdict> = done.moved_verdicts.iter().collect();
        moved.sort_by(|a, b| (b.after - b.before).abs().total_cmp(&(a.after - a.before).abs()));
        verdicts(ui, done, "same defect", moved.into_iter());
    }
    if !done.answers.is_empty() {
        answers(ui, done);
    }
    if !done.effects.is_empty() {
        effects(ui, &done.effects);
    }
    if !done.unknown.is_empty() {
        unknown(ui, done);
    }
    if done.verdicts > 0 {
        let made = counted(done.verdicts, "verdict", "verdicts");
        let flipped = match done.changed_verdicts.len() {
            0 => "no flips".to_owned(),
            flips => counted(flips, "flip", "flips"),
        };
        let moved = match done.moved_verdicts.len() {
            0 => String::new(),
            moved => format!("; {} with another probability", counted(moved, "verdict", "verdicts")),
        };
        ui.out(&format!("\n{made} re-evaluated: {flipped}{moved}"));
    }
    let time = if took > 0.0 { format!(" in {took:.1} s") } else { String::new() };
    ui.out(&format!(
        "\n{} of {} of {} re-evaluated{time}: {}",
        counted(done.decisions, "decision", "decisions"),
        counted(done.cases, "case", "cases"),
        counted(done.runs.len(), "run", "runs"),
        match done.flips.len() {
            0 => "no flips".to_owned(),
            flips => {
                let cases: BTreeSet<(&str, &str)> =
                    done.flips.iter().map(|flip| (flip.run.as_str(), flip.case.as_str())).collect();
                format!("{} in {}", counted(flips, "flip", "flips"), counted(cases.len(), "case", "cases"))
            }
        }
    ));
}

/// Prints verdicts that changed, under the heading of their column.
fn verdicts<'v>(ui: &Ui, done: &ReplayReport, heading: &str, changed: impl ExactSizeIterator<Item = &'v ChangedVerdict>) {
    let (several, all) = (done.runs.len() > 1, changed.len());
    let mut table = ui.table(&["run", "case", heading, "probability", "because"][usize::from(!several)..]);
    for ChangedVerdict { run, case, from, to, before, after, because } in changed.take(SHOWN) {
        let verdict = if from == to { to.clone() } else { format!("{from} -> {to}") };
        let cells = [run.clone(), case.clone(), verdict, format!("{before:.2} -> {after:.2}"), because.join("\n")];
        table.row(&cells[usize::from(!several)..]);
    }
    ui.out("");
    ui.out(&table.text());
    more(ui, all);
}

/// Prints the scripted answers that changed, by their differences.
fn answers(ui: &Ui, done: &ReplayReport) {
    let several = done.runs.len() > 1;
    let mut table = ui.table(&["run", "case", "step", "node", "answer"][usize::from(!several)..]);
    for ChangedAnswer { run, case, path, node, fields } in done.answers.iter().take(SHOWN) {
        let cells = [run.clone(), case.clone(), path.clone(), node.clone(), differences(fields)];
        table.row(&cells[usize::from(!several)..]);
    }
    ui.out("");
    ui.out(&table.text());
    more(ui, done.answers.len());
}

/// The most fields listed of an answer, and the most characters of a value.
const FIELDS: usize = 4;
const VALUE: usize = 32;

/// `symptom_category: infra -> assertion`, a line for each field; of those that are too many or too long, the names only.
fn differences(fields: &BTreeMap<String, [Value; 2]>) -> String {
    let shown = |value: &Value| Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let shown = |value: &Value| shown(value).filter(|text| text.chars().count() <= VALUE && !text.contains('\n'));
    let pair = |(name, [before, after]): (&String, &[Value; 2])| Some(format!("{name}: {} -> {}", shown(before)?, shown(after)?));
    let mut lines: Vec<String> = fields.iter().filter_map(pair).take(FIELDS).collect();
    let rest: Vec<&str> = fields
        .keys()
        .map(String::as_str)
        .filter(|name| !lines.iter().any(|line| line.split(": ").next() == Some(*name)))
        .collect();
    if !rest.is_empty() {
        let also = if lines.is_empty() { "" } else { "also " };
        lines.push(format!("{also}{}", rest.join(", ")));
    }
    lines.join("\n")
}

/// Prints which sources differ from those of the runs.
pub(super) fn changed(ui: &Ui, done: &ReplayReport) {
    let names: Vec<&str> = done.changed.iter().map(|change| change.what.as_str()).collect();
    let names: BTreeSet<&str> = names.into_iter().collect();
    ui.note(&if names.is_empty() {
        "the sources are the same as those of the runs".to_owned()
    } else {
        format!("changed since the runs: {}", names.into_iter().collect::<Vec<_>>().join(", "))
    });
}

/// Prints the steps with other effects: those removed and those added.
fn effects(ui: &Ui, effects: &[ChangedEffects]) {
    let mut table = ui.table(&["case", "step", "node", "no longer written", "written instead"]);
    let only_in = |these: &[Value], those: &[Value]| {
        let lines: Vec<String> = these.iter().filter(|effect| !those.contains(effect)).map(effect).collect();
        if lines.is_empty() { "-".to_owned() } else { lines.join("\n") }
    };
    for step in effects.iter().take(SHOWN) {
        let ChangedEffects { case, path, node, before, after, error, .. } = step;
        let instead = error.as_ref().map_or_else(|| only_in(after, before), |error| format!("fails: {error}"));
        table.row([case, path, node, &only_in(before, after), &instead]);
    }
    ui.out("");
    ui.out(&table.text());
    if let Some(more @ 1..) = effects.len().checked_sub(SHOWN) {
        ui.out(&format!("and {more} more; --format json lists all"));
    }
}

/// An effect as a line: its name, then its fields.
fn effect(effect: &Value) -> String {
    let name = effect["effect"].as_str().unwrap_or("?");
    let fields = effect.as_object().into_iter().flatten().filter(|(key, _)| *key != "effect");
    let fields: Vec<String> = fields.map(|(key, value)| format!("{key} {value}")).collect();
    format!("{name} {}", fields.join(", "))
}

fn flips(ui: &Ui, done: &ReplayReport) {
    let several = done.runs.len() > 1;
    let columns = ["run", "case", "step", "node", "flip", "because", "why not as before", "then"];
    let mut table = ui.table(&columns[usize::from(!several)..]);
    for flip in done.flips.iter().take(SHOWN) {
        let Flip { run, case, path, node, because, miss, .. } = flip;
        let miss = miss.clone().unwrap_or_default();
        let cells = [run, case, path, node, &arrow(flip), because, &miss, &then(done, flip)];
        table.row(&cells[usize::from(!several)..]);
    }
    ui.out(&table.text());
    more(ui, done.flips.len());
}

/// The further path of the walk: `review report`, with `?` where no answer is recorded.
fn then(done: &ReplayReport, flip: &Flip) -> String {
    let unknown = done.unknown.iter().find(|unknown| unknown.case == flip.case && unknown.run == flip.run);
    let mut nodes: Vec<String> = flip.then.clone();
    nodes.extend(unknown.map(|unknown| format!("{} ?", unknown.node)));
    nodes.join(" ")
}

/// `H4 -> H6`, with the nodes if the edge is the same.
fn arrow(flip: &Flip) -> String {
    let Flip { from, to, from_node, to_node, .. } = flip;
    let node = |node: &Option<String>| node.clone().unwrap_or_default();
    if from == to { format!("{from} -> {to} ({} -> {})", node(from_node), node(to_node)) } else { format!("{from} -> {to}") }
}

/// Prints walks with unknown outcome; those that flipped before show it in their own line.
fn unknown(ui: &Ui, done: &ReplayReport) {
    ui.out(&format!("\n?: unknown beyond here, as no answer is recorded ({})", counted(done.unknown.len(), "case", "cases")));
    let flipped: BTreeSet<(&str, &str)> = done.flips.iter().map(|flip| (flip.run.as_str(), flip.case.as_str())).collect();
    let unflipped = done.unknown.iter().filter(|unknown| !flipped.contains(&(unknown.run.as_str(), unknown.case.as_str())));
    for UnknownOutcome { run, case, path, node } in unflipped.take(SHOWN) {
        ui.out(&plain(&format!("  run {run}, case {case}, step {path}: {node} ?")));
    }
}

fn more(ui: &Ui, count: usize) {
    if count > SHOWN {
        ui.out(&format!("({} more; --format json lists all)", count - SHOWN));
    }
}
