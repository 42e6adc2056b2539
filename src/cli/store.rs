//! `asterisk store`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::config::store_location;
use crate::exit::Exit;
use crate::ui::OutputFormat;
use asterisk_diag::counted;
use asterisk_session::SessionError;
use asterisk_store::{CopiedStore, StoreFigures, StoreRole, SyncedStore};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Manage the store: its format, copies of it, and who may use it.
///
/// The store is a file, or a project in a PostgreSQL database that machines share:
/// `--store postgres://USER@HOST/DATABASE?project=NAME`. The password is taken from the address or from PGPASSWORD.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk store status\n  asterisk store copy --to backup.db\n  asterisk store sync --to team.db"
)]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Show what the store holds.
    Status {
        #[command(flatten)]
        format: FormatArg,
    },
    /// Create the store, or bring it up to the newest format.
    ///
    /// A store in a file is brought up to date by any command that writes. A store on a server is used by several versions of the
    /// program at once; it is brought up to date by this command only. Migrations are safe to start more than once.
    Migrate {
        #[command(flatten)]
        format: FormatArg,
    },
    /// Copy everything into an empty store, and verify the copy.
    ///
    /// Every content of the copy is compared with its address, and every event with its checksum. The copy may be a file or on a
    /// server, whatever the original is.
    Copy {
        /// The store to copy to; it must be empty or not exist.
        #[arg(long, value_name = "FILE|ADDRESS")]
        to: PathBuf,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Add the finished runs to another store, with what people said of root causes.
    ///
    /// For a runner that worked with a store of its own. Runs that the other store already has are skipped, and an interrupted
    /// command can be repeated. Runs that are not finished, and runs whose events were removed, are listed and left out.
    Sync {
        /// The store to add the runs to.
        #[arg(long, value_name = "FILE|ADDRESS")]
        to: PathBuf,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Let a role of the server use the store.
    ///
    /// The role must exist in the database. A `reader` reads; a `reviewer` also answers steps and reviews existing runs; a `runner` also
    /// creates runs. None of them removes anything. The grant replaces an earlier one of the same role.
    Grant {
        /// The role in the database.
        role: String,
        /// What it may do: reader, reviewer or runner.
        #[arg(long = "as", value_name = "KIND")]
        kind: StoreRole,
        #[command(flatten)]
        format: FormatArg,
    },
}

pub(super) fn store(global: &GlobalArgs, args: &StoreArgs) -> Result<Exit, SessionError> {
    let session = global.session(&ProjectArgs::default(), None)?;
    let location = &session.setup().store;
    match &args.command {
        StoreCommand::Status { format } => {
            let ui = global.ui(*format);
            let figures = session.store_figures()?;
            match ui.format() {
                OutputFormat::Json => ui.json(&with(&json!({ "store": location.to_string() }), &figures)),
                OutputFormat::Pretty => ui.out(&status(&location.to_string(), &figures)),
            }
        }
        StoreCommand::Migrate { format } => {
            let ui = global.ui(*format);
            let (before, now) = session.migrate_store()?;
            match ui.format() {
                OutputFormat::Json => {
                    ui.json(&with(&json!({ "store": location.to_string() }), &json!({ "before": before, "format": now })));
                }
                OutputFormat::Pretty => ui.out(&match before {
                    None => format!("created {location} with format {now}"),
                    Some(before) if before == now => format!("{location} has the newest format, {now}"),
                    Some(before) => format!("brought {location} from format {before} to {now}"),
                }),
            }
        }
        StoreCommand::Copy { to, format } => {
            let ui = global.ui(*format);
            let to = store_location(to, global.variables())?;
            let copied = session.copy_store(&to)?;
            match ui.format() {
                OutputFormat::Json => ui.json(&with(&json!({ "store": location.to_string(), "to": to.to_string() }), &copied)),
                OutputFormat::Pretty => {
                    let CopiedStore { runs, events, contents } = copied;
                    let runs = counted(runs.try_into().unwrap_or(usize::MAX), "run", "runs");
                    ui.out(&format!("copied {runs} to {to}; all {events} events and {contents} contents match"));
                }
            }
        }
        StoreCommand::Sync { to, format } => {
            let ui = global.ui(*format);
            let to = store_location(to, global.variables())?;
            let synced = session.sync_store(&to)?;
            match ui.format() {
                OutputFormat::Json => ui.json(&with(&json!({ "store": location.to_string(), "to": to.to_string() }), &synced)),
                OutputFormat::Pretty => {
                    let SyncedStore { runs, events, known, left, statements } = &synced;
                    for (run, status) in left {
                        ui.note(&format!("left out: run {run} is {status}"));
                    }
                    let added = counted(runs.len(), "run", "runs");
                    ui.out(&format!("added {added} with {events} events to {to}; {} were there already", known.len()));
                    if *statements > 0 {
                        ui.out(&format!("repeated {} about root causes", counted(*statements, "statement", "statements")));
                    }
                }
            }
        }
        StoreCommand::Grant { role, kind, format } => {
            session.grant_store(role, *kind)?;
            let ui = global.ui(*format);
            match ui.format() {
                OutputFormat::Json => {
                    let granted = json!({ "role": role, "kind": kind.name() });
                    ui.json(&with(&json!({ "store": location.to_string() }), &granted));
                }
                OutputFormat::Pretty => ui.out(&format!("{role} may use {location} as a {kind}")),
            }
        }
    }
    Ok(Exit::Ok)
}

/// An object with the fields of another.
fn with(first: &Value, fields: &impl serde::Serialize) -> Value {
    let mut json = json!({ "schema_version": 1 });
    for fields in [first.clone(), serde_json::to_value(fields).unwrap_or_default()] {
        if let (Value::Object(json), Value::Object(fields)) = (&mut json, fields) {
            json.extend(fields);
        }
    }
    json
}

fn status(location: &str, figures: &StoreFigures) -> String {
    let StoreFigures { format, runs, cases, events, contents, symptoms, rcas, bytes } = figures;
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    let size = *bytes as f64 / f64::from(1 << 20);
    let each: Vec<String> =
        runs.iter().filter(|(_, count)| **count > 0).map(|(status, count)| format!("{count} {status}")).collect();
    let total: u64 = runs.values().sum();
    let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!(
        "store        {location}\nformat       {format}\nsize         {size:.1} MiB\nruns         {total}{each}\ncases        {cases}\n\
         events       {events}\ncontents     {contents}\nsymptoms     {symptoms}\nroot causes  {rcas}"
    )
}
