//! `asterisk goal audit`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, plain};
use asterisk_adapters::audit::{AuditHead, BrokenLink, KNOWN, verify};
use asterisk_diag::counted;
use asterisk_session::SessionError;
use asterisk_store::AuditAnchor;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Verify and show the goal auditor's log.
///
/// The auditor checks every message between the roles of a goal. Its rules belong to the user, not to the project: `asterisk/auditor.rhai`
/// in the user's config directory, or the file named by `ASTERISK_AUDITOR`. Without either, the bundled rules apply. Its log is
/// `asterisk/audit.jsonl` in the user's state directory, or the file named by `ASTERISK_AUDIT_LOG`; older entries are in the directory
/// `audit.jsonl.d` next to it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk goal audit verify\n  asterisk goal audit report\n  asterisk goal audit show --anomalies --format json"
)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Verify the log: that the hash chain is intact, and that it agrees with the journal of every run.
    Verify {
        /// The log file [default: the user's].
        log: Option<PathBuf>,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Report the auditor's counts since its last report, and in total.
    ///
    /// The log is only read. The auditor writes such a report at the end of each goal, at each anomaly, and when messages have
    /// been unreported for longer than `period()` of its rules.
    Report {
        /// The log file [default: the user's].
        log: Option<PathBuf>,
        #[command(flatten)]
        format: FormatArg,
    },
    /// Show the entries of the log.
    Show {
        /// The log file [default: the user's].
        log: Option<PathBuf>,
        /// Show anomalies only.
        #[arg(long)]
        anomalies: bool,
        #[command(flatten)]
        format: FormatArg,
    },
}

pub(super) fn audit(global: &GlobalArgs, args: &AuditArgs) -> Result<Exit, SessionError> {
    let (AuditCommand::Verify { log, format } | AuditCommand::Report { log, format } | AuditCommand::Show { log, format, .. }) =
        &args.command;
    let ui = &global.ui(*format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let log = log.clone().unwrap_or_else(|| session.setup().audit.log.clone());
    if let AuditCommand::Report { .. } = &args.command {
        let report = session.audit_report(&log)?;
        match ui.format() {
            OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "report": report })),
            OutputFormat::Pretty => ui.out(&plain(&counts(&report, 0))),
        }
        return Ok(Exit::Ok);
    }
    let (mut entries, mut shown) = (Vec::new(), Vec::new());
    let shows = |entry: &Value| match &args.command {
        AuditCommand::Show { anomalies, .. } => !anomalies || entry["kind"] == "anomaly",
        AuditCommand::Verify { .. } | AuditCommand::Report { .. } => false,
    };
    let each = |entry: &Value| {
        entries.push(ReadEntry::of(entry));
        shown.extend(shows(entry).then(|| entry.clone()));
    };
    // Before the first goal, the log does not exist and the journal is empty.
    let verified = match verify(&log, each) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(AuditHead::default()),
        verified => verified.map_err(|source| SessionError::Write { path: log.display().to_string(), source })?,
    };
    let log = log.canonicalize().unwrap_or(log).display().to_string();
    let knowledge = session.knowledge()?;
    let anchors = knowledge.audit_anchors(&log)?;
    let verified = match verified {
        Ok(head) => anchored(&anchors, &entries).map_or(Ok(head), Err),
        broken => broken,
    };
    let (unknown, unaudited) = (unknown(&anchors, &entries), knowledge.unaudited_goals(&log)?);
    if let AuditCommand::Show { .. } = &args.command {
        match ui.format() {
            OutputFormat::Json => {
                let broken = verified.as_ref().err();
                ui.json(&json!({ "schema_version": 1, "entries": shown, "broken": broken }));
            }
            OutputFormat::Pretty => shown.iter().for_each(|entry| ui.out(&plain(&line(entry)))),
        }
    }
    Ok(match verified {
        Ok(AuditHead { entries, hash }) => {
            match (&args.command, ui.format()) {
                (AuditCommand::Show { .. }, _) => {}
                (_, OutputFormat::Json) => {
                    ui.json(&json!({
                        "schema_version": 1, "whole": true, "entries": entries, "head": hash, "unknown": unknown, "unaudited": unaudited,
                    }));
                }
                (_, OutputFormat::Pretty) => {
                    ui.out(&format!("{entries} entries, intact; the last is {hash}"));
                    for (run, Unknown { entries, line }) in &unknown {
                        let many = counted(*entries, "entry", "entries");
                        ui.note(&plain(&format!(
                            "{many} of run {run}, from line {line}: they are not in the journal of this store"
                        )));
                    }
                    for run in &unaudited {
                        ui.note(&plain(&format!("this log lacks entries of the goal {run}")));
                    }
                }
            }
            Exit::Ok
        }
        Err(broken) => {
            match (&args.command, ui.format()) {
                (AuditCommand::Verify { .. }, OutputFormat::Json) => {
                    ui.json(&json!({ "schema_version": 1, "whole": false, "broken": broken }));
                }
                _ => ui.note(&plain(&format!("the log is broken at line {}: {}", broken.line, broken.why))),
            }
            Exit::Findings
        }
    })
}

/// What is compared of an entry.
struct ReadEntry {
    hash: String,
    /// The run that it is of; none if it is what the auditor knew.
    run: Option<String>,
}

impl ReadEntry {
    fn of(entry: &Value) -> Self {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let run = text("turn").split('/').next().unwrap_or_default();
        Self { hash: text("hash").to_owned(), run: (entry["kind"] != KNOWN).then(|| run.to_owned()) }
    }
}

/// Returns the first entry that differs from the journal, if there is one.
fn anchored(anchors: &[AuditAnchor], entries: &[ReadEntry]) -> Option<BrokenLink> {
    for anchor in anchors {
        let at = usize::try_from(anchor.entries).ok().and_then(|entries| entries.checked_sub(1));
        let why = match at.and_then(|at| entries.get(at)) {
            None => format!("it is missing: the journal of run {} has {} entries", anchor.run, anchor.entries),
            Some(entry) if entry.hash != anchor.head => {
                format!("it differs from the one in the journal of run {}: the log was rewritten", anchor.run)
            }
            Some(_) => continue,
        };
        return Some(BrokenLink { line: anchor.entries, why });
    }
    None
}

/// Entries of a run that its journal does not know: of another store, of a step that was not committed, or forged.
#[derive(Serialize)]
struct Unknown {
    entries: usize,
    /// The line of the first one.
    line: u64,
}

/// The entries that no journal of this store knows, by run.
fn unknown(anchors: &[AuditAnchor], entries: &[ReadEntry]) -> BTreeMap<String, Unknown> {
    let mut known: BTreeMap<&str, u64> = BTreeMap::new();
    for anchor in anchors {
        let last = known.entry(&anchor.run).or_default();
        *last = anchor.entries.max(*last);
    }
    let mut unknown: BTreeMap<String, Unknown> = BTreeMap::new();
    for (line, entry) in (1..).zip(entries) {
        let Some(run) = &entry.run else { continue };
        if line > known.get(run.as_str()).copied().unwrap_or_default() {
            unknown.entry(run.clone()).or_insert(Unknown { entries: 0, line }).entries += 1;
        }
    }
    unknown
}

/// Formats the counts of a report, a line each.
fn counts(report: &Value, depth: usize) -> String {
    let line = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => format!("{:depth$}{name}\n{}", "", counts(value, depth + 2)),
        value => format!("{:depth$}{name} {value}", ""),
    };
    report.as_object().into_iter().flatten().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats an entry as one line.
fn line(entry: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let body = &entry["body"];
    let said = match entry["kind"].as_str() {
        Some("message") => {
            format!("{} {} -> {} {}", text(&body["type"]), text(&body["from"]), text(&body["to"]), body["payload"])
        }
        Some("anomaly") => format!("ANOMALY {}: {}", text(&body["kind"]), text(&body["because"])),
        Some(KNOWN) => format!("known {}", body["state"]),
        _ => format!("report {body}"),
    };
    format!("{} {} {said}", entry["n"], text(&entry["at"]))
}
