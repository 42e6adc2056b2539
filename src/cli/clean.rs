//! `asterisk clean`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_base::clock::Timestamp;
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_session::{CleanResult, SessionError};
use asterisk_store::Retention;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Remove the data of old runs (events, contents, directories); keep the symptoms and root causes they found.
///
/// Symptoms, root causes and everything that recall uses are kept. A run in progress is never removed, a paused one only with
/// --include-paused. With both bounds, a run is removed if it is older and not among the latest. Regardless of the bounds, test
/// outcomes are kept for the latest 200 launches of each name only.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk clean --older-than 30d --dry-run\n  asterisk clean --older-than 30d --keep-latest 20\n  asterisk clean --cache"
)]
pub(super) struct CleanArgs {
    /// Remove runs that started longer ago than this: a number with `m`, `h`, `d` or `w`, such as 30d.
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<i64>,
    /// Keep this number of the latest runs, regardless of age.
    #[arg(long, value_name = "N")]
    keep_latest: Option<usize>,
    /// Also remove paused runs, which then cannot be resumed.
    #[arg(long)]
    include_paused: bool,
    /// Remove the cached answers of agents.
    #[arg(long)]
    cache: bool,
    /// Only show what would be removed.
    #[arg(long)]
    dry_run: bool,
    /// The directory in which runs create theirs.
    #[arg(id = "ASTERISK_OUT", long = "out", value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

/// Parses an age to milliseconds.
fn age(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is not an age: use a number with m, h, d or w, such as 30d");
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let unit: i64 = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(wrong()),
    };
    let number: u32 = number.parse().map_err(|_| wrong())?;
    i64::from(number).checked_mul(unit).ok_or_else(wrong)
}

pub(super) fn clean(global: &GlobalArgs, args: &CleanArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), args.out.clone())?;
    if args.cache {
        let count = session.clean_cache(args.dry_run)?;
        if args.older_than.is_none() && args.keep_latest.is_none() {
            match ui.format() {
                OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "dry_run": args.dry_run, "answers": count })),
                OutputFormat::Pretty => {
                    let did = if args.dry_run { "would remove" } else { "removed" };
                    ui.out(&format!("{did} {}", counted(count, "cached answer", "cached answers")));
                }
            }
            return Ok(Exit::Ok);
        }
    }
    if args.older_than.is_none() && args.keep_latest.is_none() {
        let diagnostic = Diagnostic::error("input/no-bound", "`clean` needs to know which runs to remove");
        return Err(SessionError::BadRequest(Box::new(
            diagnostic.help("pass --older-than 30d, --keep-latest 20, or both; for cached answers only, pass --cache"),
        )));
    }
    let now = session.setup().clock.now();
    let before = args.older_than.map(|age| Timestamp::from_millis(now.millis().saturating_sub(age)));
    let retention =
        Retention { before, keep_latest: args.keep_latest, include_paused: args.include_paused, dry_run: args.dry_run };
    let result = session.clean(&retention)?;
    match ui.format() {
        OutputFormat::Json => {
            let mut json = serde_json::to_value(&result).unwrap_or_default();
            if let Value::Object(map) = &mut json {
                map.insert("schema_version".into(), json!(1));
            }
            ui.json(&json);
        }
        OutputFormat::Pretty => print(ui, &result),
    }
    Ok(Exit::Ok)
}

fn print(ui: &Ui, result: &CleanResult) {
    let CleanResult { dry_run, store, directories, directory_bytes, .. } = result;
    for (run, status) in &store.kept {
        ui.note(&format!("kept: run {run} is {status}"));
    }
    let did = if *dry_run { "would remove" } else { "removed" };
    ui.out(&format!("{did} {} runs", store.runs.len()));
    for run in &store.runs {
        ui.out(&format!("  {run}"));
    }
    ui.out(&format!("{did} {} events and {} contents of the store ({} bytes)", store.events, store.blobs, store.bytes));
    if store.test_outcomes > 0 {
        ui.out(&format!("{did} the test outcomes of {}", counted(store.test_outcomes, "launch", "launches")));
    }
    ui.out(&format!("{did} {} directories ({directory_bytes} bytes)", directories.len()));
    if !dry_run && !store.runs.is_empty() && !result.shrunk {
        ui.note("a run is in progress: the store file keeps its size, and its free pages are reused");
    }
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_numbers_with_a_unit() {
        assert_eq!(age("30d"), Ok(30 * 86_400_000));
        assert_eq!(age("90m"), Ok(90 * 60_000));
        for wrong in ["", "d", "30", "-1d", "1é", "1.5h", "30 d", "99999999999w"] {
            assert!(age(wrong).is_err_and(|error| error.contains("30d")), "{wrong}");
        }
    }
}
