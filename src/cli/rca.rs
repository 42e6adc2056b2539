//! `asterisk rca`.

use super::show_symptoms::{age, lines, often, seen, versions};
use super::{FormatArg, GlobalArgs, ProjectArgs, nothing_yet};
use crate::exit::Exit;
use crate::ui::OutputFormat;
use asterisk_session::SessionError;
use asterisk_store::{RcaFilter, RcaRow};
use clap::{Args, Subcommand};
use serde_json::json;

/// List and show the root causes of all runs, and record decisions of a person: a new status, that two are the same, or that some
/// failures have another cause.
///
/// Later runs use these decisions. If a root cause that is resolved, verified or archived is found again, that is a regression:
/// it keeps its status, and is shown as having come back. A person's decision takes precedence over a run's.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk rca list --status open\n  asterisk rca show 4711\n  \
                        asterisk rca resolve 4711 --message \"fixed in 3.4.0\" --by ada\n  \
                        asterisk rca merge 4711 4712 --message \"one outage\"\n  \
                        asterisk rca split 4711 --case 880201")]
pub(super) struct RcaArgs {
    #[command(subcommand)]
    command: RcaCommand,
}

#[derive(Debug, Subcommand)]
enum RcaCommand {
    /// List the known root causes.
    List {
        /// Only root causes of this run.
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        /// Only root causes with this status: `open`, `resolved`, `verified`, `archived`.
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        /// Only root causes seen in this version.
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        /// The maximum number listed.
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show a root cause.
    Show {
        /// The root cause.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Record that a root cause is fixed.
    Resolve(ChangeArgs),
    /// Record that a root cause is confirmed to be fixed.
    Verify(ChangeArgs),
    /// Record that a root cause is no longer of interest.
    Archive(ChangeArgs),
    /// Record that a root cause is present (again).
    Reopen(ChangeArgs),
    /// Record that two root causes are the same.
    ///
    /// The other becomes a duplicate of the one that is kept. In later runs, failures with the root of either have the same
    /// cause.
    Merge {
        /// The root cause that is kept.
        #[arg(allow_negative_numbers = true)]
        kept: i64,
        /// The one that becomes a duplicate of it.
        #[arg(allow_negative_numbers = true)]
        other: i64,
        #[command(flatten)]
        word: WordArgs,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Record that some failures do not belong to a root cause.
    ///
    /// In later runs, failures like them have a separate cause, regardless of the rules.
    Split {
        /// The root cause.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        /// A case that does not belong to it; may be repeated.
        #[arg(long, value_name = "ID", required = true)]
        case: Vec<String>,
        #[command(flatten)]
        word: WordArgs,
        #[command(flatten)]
        format: FormatArg,
    },
}

/// Who decided, and why.
#[derive(Debug, Args)]
struct WordArgs {
    /// The reason.
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    message: String,
    /// Who decided.
    #[arg(long, value_name = "NAME", default_value = "human")]
    by: String,
}

/// A new status of a root cause.
#[derive(Debug, Args)]
struct ChangeArgs {
    /// The root cause.
    #[arg(allow_negative_numbers = true)]
    id: i64,
    #[command(flatten)]
    word: WordArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn rca(global: &GlobalArgs, args: &RcaArgs) -> Result<Exit, SessionError> {
    match &args.command {
        RcaCommand::List { run, status, version, limit, format } => {
            let (run, status, version) = (run.clone(), status.clone(), version.clone());
            list(global, &RcaFilter { run, status, version, limit: *limit, ..RcaFilter::default() }, *format)
        }
        RcaCommand::Show { id, format } => show(global, *id, *format),
        RcaCommand::Resolve(args) => change(global, args, "resolved"),
        RcaCommand::Verify(args) => change(global, args, "verified"),
        RcaCommand::Archive(args) => change(global, args, "archived"),
        RcaCommand::Reopen(args) => change(global, args, "open"),
        RcaCommand::Merge { kept, other, word, format } => merge(global, (*kept, *other), word, *format),
        RcaCommand::Split { id, case, word, format } => split(global, (*id, case), word, *format),
    }
}

fn list(global: &GlobalArgs, filter: &RcaFilter, format: FormatArg) -> Result<Exit, SessionError> {
    let ui = &global.ui(format);
    let session = &global.session(&ProjectArgs::default(), None)?;
    let rows = session.knowledge()?.rcas(filter)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "rcas": rows }));
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        nothing_yet(ui, session, "no such root causes are known; runs find them: asterisk run");
        return Ok(Exit::Ok);
    }
    let now = session.setup().clock.now();
    let mut table =
        ui.table(&["root cause", "title", "type", "component", "seen", "versions", "first seen", "last seen", "status"]);
    for row in rows {
        let status = state(&row);
        let RcaRow { rca, seen, .. } = row;
        let (first, last) = (age(seen.first_seen, now), age(seen.last_seen, now));
        let versions = versions(&seen.versions);
        table.row([rca.id.to_string(), rca.title, rca.defect_type, rca.component, often(&seen), versions, first, last, status]);
    }
    ui.out(&table.text());
    Ok(Exit::Ok)
}

fn show(global: &GlobalArgs, id: i64, format: FormatArg) -> Result<Exit, SessionError> {
    let ui = &global.ui(format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let row = session.knowledge()?.rca(id)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "rca": row }));
        return Ok(Exit::Ok);
    }
    let now = session.setup().clock.now();
    let rca = &row.rca;
    ui.out(&format!("root cause {}: {}", rca.id, rca.title));
    lines(ui, &[("cause", rca.message.as_str()), ("type", &rca.defect_type), ("component", &rca.component)]);
    lines(ui, &[("status", &state(&row)), ("confidence", &row.confidence.to_string())]);
    if let Some(change) = &rca.status_change {
        let why = if change.message.is_empty() { String::new() } else { format!(": {}", change.message) };
        lines(ui, &[("said", &format!("{} by {}, {}{why}", change.status, change.by, age(change.at, now)))]);
    }
    seen(ui, &row.seen, now);
    for symptom in &row.symptoms {
        let over = symptom.overturned_by.as_ref().map_or(String::new(), |by| format!(", overturned by {by}"));
        ui.out(&format!("  symptom    {} (confidence {}{over})", symptom.id, symptom.confidence));
    }
    let mut table = ui.table(&["run", "launch", "version", "began", "case", "test"]);
    for case in row.cases {
        table.row([case.run, case.launch, case.version, case.at.to_string(), case.case, case.test]);
    }
    ui.out(&table.text());
    Ok(Exit::Ok)
}

fn state(row: &RcaRow) -> String {
    if row.reappeared { format!("{}, came back", row.rca.status) } else { row.rca.status.clone() }
}

fn change(global: &GlobalArgs, args: &ChangeArgs, status: &str) -> Result<Exit, SessionError> {
    let ChangeArgs { id, word, format } = args;
    let ui = &global.ui(*format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let before = session.knowledge()?.say_of_rca(*id, status, &word.by, &word.message)?;
    match ui.format() {
        OutputFormat::Json => {
            let rca = json!({ "id": id, "title": before.title, "was": before.status, "status": status, "by": word.by,
                "message": word.message });
            ui.json(&json!({ "schema_version": 1, "rca": rca }));
        }
        OutputFormat::Pretty => ui.out(&format!("root cause {id} ({}): {} -> {status}", before.title, before.status)),
    }
    Ok(Exit::Ok)
}

fn merge(global: &GlobalArgs, (kept, other): (i64, i64), word: &WordArgs, format: FormatArg) -> Result<Exit, SessionError> {
    let ui = &global.ui(format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let done = session.knowledge()?.merge_rcas(kept, other, &word.by, &word.message)?;
    match ui.format() {
        OutputFormat::Json => {
            let merged = json!({ "kept": kept, "other": other, "root": done.root, "cases": done.cases, "by": word.by,
                "message": word.message });
            ui.json(&json!({ "schema_version": 1, "merged": merged }));
        }
        OutputFormat::Pretty => {
            ui.out(&format!("root cause {other} is now a duplicate of {kept}; {} linked to it", cases(done.cases)));
        }
    }
    Ok(Exit::Ok)
}

fn split(global: &GlobalArgs, (id, of): (i64, &[String]), word: &WordArgs, format: FormatArg) -> Result<Exit, SessionError> {
    let ui = &global.ui(format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let done = session.knowledge()?.split_rca(id, of, &word.by, &word.message)?;
    match ui.format() {
        OutputFormat::Json => {
            let split = json!({ "rca": id, "case_ids": of, "root": done.root, "cases": done.cases, "by": word.by,
                "message": word.message });
            ui.json(&json!({ "schema_version": 1, "split": split }));
        }
        OutputFormat::Pretty => {
            ui.out(&format!("{} split off root cause {id}: such failures now have a separate cause", cases(done.cases)));
        }
    }
    Ok(Exit::Ok)
}

fn cases(count: usize) -> String {
    if count == 1 { "1 case".to_owned() } else { format!("{count} cases") }
}
