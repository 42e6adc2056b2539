//! `asterisk push`.

use super::{FormatArg, GlobalArgs, PortalArgs, ProjectArgs, RunArg};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_base::model::shell;
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_files::OutDir;
use asterisk_report::{self as report, Draft, IssueTracker, PushableReport, UnreviewedCase};
use asterisk_session::{PushRemark, PushResult, Session, SessionError};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Send reviewed results to another system.
///
/// Only cases that a person approved or overturned are sent (`asterisk review`). ReportPortal receives the defect type and a
/// comment for each case, once. For Jira and GitHub, a draft of each root cause is written and nothing is sent; the draft's key
/// is stable, so that an existing issue can be found.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk push latest --to reportportal --dry-run\n  asterisk push latest --to reportportal\n  \
                        asterisk push latest --to jira-json --out drafts\n  asterisk push latest --to github-md"
)]
pub(super) struct PushArgs {
    #[command(flatten)]
    run: RunArg,
    /// The target.
    #[arg(long, value_enum, value_name = "TARGET")]
    to: PushTarget,
    /// Also send cases that only an agent or a script has reviewed.
    #[arg(long)]
    accept_auto: bool,
    /// Show what would be sent or written, without doing it.
    #[arg(long)]
    dry_run: bool,
    /// For `jira-json` and `github-md`: write each draft to a file in this directory instead of printing it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    portal: PortalArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PushTarget {
    /// The analysed launch: the defect type and a comment of each case.
    Reportportal,
    /// A draft of each root cause, as the fields of Jira's create request.
    JiraJson,
    /// A draft of each root cause, as an issue body in GitHub's Markdown, below its title.
    GithubMd,
}

pub(super) fn push(global: &GlobalArgs, args: &PushArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    if args.to == PushTarget::Reportportal && args.out.is_some() {
        let help = "omit it; `--dry-run` shows what would be sent";
        return Err(SessionError::bad_request(
            "input/push",
            "`--out` is for drafts: no files are written for ReportPortal",
            Some(help.into()),
        ));
    }
    let mut setup = global.resolve(&ProjectArgs::default(), None)?.setup;
    args.portal.override_settings(&mut setup.reportportal);
    let session = Session::new(setup);
    let result = session.result(&args.run.run)?;
    let (passed, trouble) = report::passed(&result, || session.knowledge()?.history(&result.run).map(Some), args.accept_auto)?;
    ui.diagnostics(&trouble);
    let PushableReport { report, waiting } = &passed;
    let mut all = json!({
        "schema_version": 1, "run": report.run, "target": args.to.to_possible_value().map(|value| value.get_name().to_owned()),
        "dry_run": args.dry_run, "waiting": waiting,
    });
    let mut exit = Exit::Ok;
    if report.cases.is_empty() && !waiting.is_empty() {
        exit = Exit::Findings;
    } else if args.to == PushTarget::Reportportal {
        let remarks = report::remarks(report)?;
        let outcomes = session.push(&report.run, &remarks, args.dry_run)?;
        if outcomes.iter().any(|(_, outcome)| matches!(outcome, PushResult::Refused(_))) {
            exit = Exit::Cases;
        }
        all["cases"] = remarks.iter().zip(&outcomes).map(|(remark, (_, outcome))| case(remark, outcome, args.dry_run)).collect();
        if ui.format() == OutputFormat::Pretty {
            print_sent(ui, args.dry_run, &remarks, &outcomes);
        }
    } else {
        let form = if args.to == PushTarget::JiraJson { IssueTracker::Jira } else { IssueTracker::Github };
        let drafts =
            report::drafts(report, form, waiting.is_empty()).map_err(|diagnostic| SessionError::Texts((*diagnostic).into()))?;
        let written = args.out.as_deref().map(|dir| write(dir, &drafts, args.dry_run)).transpose()?;
        let outcome = |at: usize| written.as_ref().map_or("shown", |written| written[at]);
        all["drafts"] = drafts.iter().enumerate().map(|(at, one)| draft(one, form, outcome(at))).collect();
        if ui.format() == OutputFormat::Pretty {
            print_drafts(ui, args.out.as_deref(), &drafts, written.as_deref());
        }
    }
    if ui.format() == OutputFormat::Json {
        ui.json(&all);
    }
    print_waiting(ui, &report.run, report.cases.len(), waiting);
    Ok(exit)
}

fn word(outcome: &PushResult, dry: bool) -> &'static str {
    match outcome {
        PushResult::Sent if dry => "would_send",
        PushResult::Sent => "sent",
        PushResult::Before => "sent_before",
        PushResult::Refused(_) => "refused",
    }
}

fn case(remark: &PushRemark, outcome: &PushResult, dry: bool) -> Value {
    let mut case = json!({
        "case": remark.case, "issue_type": remark.issue_type, "comment": remark.comment, "outcome": word(outcome, dry),
    });
    if let PushResult::Refused(why) = outcome {
        case["why"] = json!(why.message);
    }
    case
}

/// Prints the outcome of each case.
fn print_sent(ui: &Ui, dry: bool, remarks: &[PushRemark], outcomes: &[(String, PushResult)]) {
    let mut table = ui.table(&["case", "issue type", "outcome"]);
    for (remark, (case, outcome)) in remarks.iter().zip(outcomes) {
        table.row([case.as_str(), &remark.issue_type, &word(outcome, dry).replace('_', " ")]);
    }
    ui.out(&table.text());
    for (remark, (case, outcome)) in remarks.iter().zip(outcomes) {
        match outcome {
            PushResult::Sent if dry => {
                ui.out(&plain(&format!("\ncase {case} would be {}, with the comment:\n{}", remark.issue_type, remark.comment)));
            }
            PushResult::Refused(why) => ui.diagnostic(why),
            _ => {}
        }
    }
    if !outcomes.is_empty() && outcomes.iter().all(|(_, outcome)| matches!(outcome, PushResult::Before)) {
        ui.note("nothing was sent: everything was sent before");
    }
}

fn draft(draft: &Draft, form: IssueTracker, outcome: &str) -> Value {
    let mut value = json!(draft);
    value["outcome"] = json!(outcome);
    match form {
        IssueTracker::Jira => value["draft"] = serde_json::from_str(&draft.text).unwrap_or_default(),
        IssueTracker::Github => value["body"] = json!(draft.text),
    }
    value
}

/// Writes the drafts that differ from the existing files; returns the outcome of each.
fn write(dir: &Path, drafts: &[Draft], dry: bool) -> Result<Vec<&'static str>, SessionError> {
    let failed = |source| SessionError::Write { path: dir.display().to_string(), source };
    let there = |draft: &Draft| std::fs::read(dir.join(&draft.file)).is_ok_and(|bytes| bytes == draft.text.as_bytes());
    let new: Vec<bool> = drafts.iter().map(|draft| !there(draft)).collect();
    if !dry && new.contains(&true) {
        let out = OutDir::create(dir).map_err(failed)?;
        for (draft, _) in drafts.iter().zip(&new).filter(|(_, new)| **new) {
            out.write(&draft.file, &draft.text).map_err(failed)?;
        }
    }
    Ok(new
        .into_iter()
        .map(|new| {
            if !new {
                "unchanged"
            } else if dry {
                "would_write"
            } else {
                "written"
            }
        })
        .collect())
}

fn print_drafts(ui: &Ui, dir: Option<&Path>, drafts: &[Draft], written: Option<&[&'static str]>) {
    let (Some(dir), Some(written)) = (dir, written) else {
        let texts: Vec<&str> = drafts.iter().map(|draft| draft.text.as_str()).collect();
        ui.out(texts.join("\n").trim_end());
        return;
    };
    for (draft, outcome) in drafts.iter().zip(written) {
        ui.out(&format!("{}: {}", outcome.replace('_', " "), dir.join(&draft.file).display()));
    }
    if !written.is_empty() && written.iter().all(|outcome| *outcome == "unchanged") {
        ui.note("nothing was written: all drafts are up to date");
    }
}

/// Prints which cases are not sent, and how to release them.
fn print_waiting(ui: &Ui, run: &str, passed: usize, waiting: &[UnreviewedCase]) {
    let Some(first) = waiting.first() else {
        if passed == 0 {
            ui.note("nothing to push: the run is empty");
        }
        return;
    };
    let count = waiting.len();
    let cases = counted(count, "case needs", "cases need");
    let mut help = format!("asterisk review {} approve --run {run}", shell(&first.case));
    let auto = waiting.iter().filter(|case| case.over && case.reviewed_by.is_some()).count();
    if auto > 0 {
        let which = if count == 1 { "it".to_owned() } else { format!("{auto} of them") };
        let _ = write!(help, "\n{which} passed the review of a script or an agent only; --accept-auto sends these too");
    }
    if passed == 0 {
        let message = format!("nothing to push yet: {cases} review");
        ui.diagnostic(&Diagnostic::error("push/review", message).help(help));
    } else {
        ui.note(&format!("{cases} review: {help}"));
    }
}
