//! `asterisk rca`.

use super::show_knowledge::{self, KnowledgeFilter};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::OutputFormat;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

/// Record what a person says of a root cause: its new status, that two are one, or that some failures are not of it.
///
/// Later runs use it. If a root cause that is resolved, verified or archived is found again, that is a regression: it keeps its status, and
/// is shown as having come back. A person's statement takes precedence over a run's.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  asterisk rca 4711 resolve --message \"mended in 3.4.0\" --by ada\n  \
                  asterisk rca list\n  \
                  asterisk rca merge 4711 4712 --message \"one outage\"\n  \
                  asterisk rca split 4711 --case 880201"
)]
pub(super) struct RcaArgs {
    #[command(subcommand)]
    command: Option<RcaCommand>,
    /// The root cause, as `asterisk rca list` shows it.
    #[arg(allow_negative_numbers = true, required = true)]
    id: Option<i64>,
    /// The new status.
    #[arg(value_enum, required = true)]
    became: Option<RcaChange>,
    #[command(flatten)]
    word: WordArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Debug, Subcommand)]
enum RcaCommand {
    /// List the known root causes: `asterisk show rcas`.
    List {
        #[command(flatten)]
        which: KnowledgeFilter,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show one root cause: `asterisk show rca`.
    Show {
        /// The root cause.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Record that two root causes are one.
    ///
    /// The other becomes a duplicate of the one that is kept. Failures with the root of either are one cause in later runs.
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
    /// Record that some failures are not of a root cause.
    ///
    /// Failures like them have a cause of their own in later runs: they are not recognised as this one any more, whatever the rules say.
    Split {
        /// The root cause.
        #[arg(allow_negative_numbers = true)]
        id: i64,
        /// A case that is not of it; several go together.
        #[arg(long, value_name = "ID", required = true)]
        case: Vec<String>,
        #[command(flatten)]
        word: WordArgs,
        #[command(flatten)]
        format: FormatArg,
    },
}

/// Who says something, and why.
#[derive(Debug, Args)]
struct WordArgs {
    /// The reason.
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    message: String,
    /// Who decided.
    #[arg(long, value_name = "NAME", default_value = "human")]
    by: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RcaChange {
    /// Fixed.
    Resolve,
    /// Confirmed to be fixed.
    Verify,
    /// No longer of interest.
    Archive,
    /// Present (again).
    Reopen,
}

impl RcaChange {
    fn status(self) -> &'static str {
        match self {
            Self::Resolve => "resolved",
            Self::Verify => "verified",
            Self::Archive => "archived",
            Self::Reopen => "open",
        }
    }
}

pub(super) fn rca(global: &GlobalArgs, args: &RcaArgs) -> Result<Exit, SessionError> {
    match &args.command {
        Some(RcaCommand::List { which, format }) => {
            show_knowledge::rcas(&global.ui(*format), &global.session(&ProjectArgs::default(), None)?, which)?;
            Ok(Exit::Ok)
        }
        Some(RcaCommand::Show { id, format }) => {
            let session = global.session(&ProjectArgs::default(), None)?;
            show_knowledge::rca(&global.ui(*format), &session, Some(&id.to_string()))?;
            Ok(Exit::Ok)
        }
        Some(RcaCommand::Merge { kept, other, word, format }) => merge(global, (*kept, *other), word, *format),
        Some(RcaCommand::Split { id, case, word, format }) => split(global, (*id, case), word, *format),
        None => {
            // clap requires both where there is no subcommand.
            let (Some(id), Some(became)) = (args.id, args.became) else { return Ok(Exit::Usage) };
            status(global, (id, became), &args.word, args.format)
        }
    }
}

fn status(global: &GlobalArgs, (id, became): (i64, RcaChange), word: &WordArgs, format: FormatArg) -> Result<Exit, SessionError> {
    let ui = &global.ui(format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let before = session.knowledge()?.say_of_rca(id, became.status(), &word.by, &word.message)?;
    match ui.format() {
        OutputFormat::Json => {
            let rca = json!({ "id": id, "title": before.title, "was": before.status, "status": became.status(),
                "by": word.by, "message": word.message });
            ui.json(&json!({ "schema_version": 1, "rca": rca }));
        }
        OutputFormat::Pretty => ui.out(&format!("root cause {id} ({}): {} -> {}", before.title, before.status, became.status())),
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
            ui.out(&format!("root cause {other} is a duplicate of {kept} from now on; {} linked to it", cases(done.cases)));
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
            ui.out(&format!(
                "{} split off root cause {id}: such failures have a cause of their own from now on",
                cases(done.cases)
            ));
        }
    }
    Ok(Exit::Ok)
}

fn cases(count: usize) -> String {
    if count == 1 { "1 case".to_owned() } else { format!("{count} cases") }
}
