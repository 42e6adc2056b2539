//! `asterisk push`.

use super::{FormatArg, GlobalArgs, PortalArgs, ProjectArgs};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::files::OutDir;
use crate::model::{counted, shell};
use crate::report::{self, Draft, IssueTracker, PushableReport, UnreviewedCase};
use crate::session::{PushRemark, PushResult, Session, SessionError};
use crate::ui::{OutputFormat, Ui, plain};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Send what a person has reviewed to another system.
///
/// Only cases that a person approved or overturned leave (`asterisk review`). To ReportPortal goes, for each case, the defect type and a
/// comment; doing it again sends nothing that was sent before. For Jira and GitHub a draft is made of each root cause, and nothing is sent:
/// its key stays the same, so that an issue that is there already can be found.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk push latest --to reportportal --dry-run\n  asterisk push latest --to reportportal\n  \
                        asterisk push latest --to jira-json --out drafts\n  asterisk push latest --to github-md"
)]
pub(super) struct PushArgs {
    /// The run, or `latest`.
    #[arg(default_value = "latest")]
    run: String,
    /// Where to.
    #[arg(long, value_enum, value_name = "TARGET")]
    to: PushTarget,
    /// Let those cases leave too that only an agent or a script has reviewed.
    #[arg(long)]
    accept_auto: bool,
    /// Show what would be sent or written, and do neither.
    #[arg(long)]
    dry_run: bool,
    /// Of `jira-json` and `github-md`: write the drafts into this directory, each in a file, instead of printing them.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    portal: PortalArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PushTarget {
    /// The launch that the run analysed: the defect type and a comment of each case.
    Reportportal,
    /// A draft of each root cause, as the fields of Jira's create request.
    JiraJson,
    /// The same as the body of an issue in GitHub's Markdown, below its title.
    GithubMd,
}

pub(super) fn push(global: &GlobalArgs, args: &PushArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    if args.to == PushTarget::Reportportal && args.out.is_some() {
        let help = "leave it out; `--dry-run` shows what would be sent";
        return Err(SessionError::asked(
            "input/push",
            "`--out` is for drafts: nothing is written for ReportPortal",
            Some(help.into()),
        ));
    }
    let mut setup = global.resolve(&ProjectArgs::default(), None)?.setup;
    args.portal.over(&mut setup.reportportal);
    let session = Session::new(setup);
    let result = session.result(&args.run)?;
    let (passed, trouble) = report::passed(&result, || session.history(&result.run).map(Some), args.accept_auto)?;
    ui.diagnostics(&trouble);
    let PushableReport { report, waiting } = &passed;
    let mut told = json!({
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
        told["cases"] = remarks.iter().zip(&outcomes).map(|(remark, (_, outcome))| case(remark, outcome, args.dry_run)).collect();
        if ui.format() == OutputFormat::Pretty {
            sent(ui, args.dry_run, &remarks, &outcomes);
        }
    } else {
        let form = if args.to == PushTarget::JiraJson { IssueTracker::Jira } else { IssueTracker::Github };
        let drafts =
            report::drafts(report, form, waiting.is_empty()).map_err(|diagnostic| SessionError::Texts((*diagnostic).into()))?;
        let written = args.out.as_deref().map(|dir| write(dir, &drafts, args.dry_run)).transpose()?;
        let outcome = |at: usize| written.as_ref().map_or("shown", |written| written[at]);
        told["drafts"] = drafts.iter().enumerate().map(|(at, one)| draft(one, form, outcome(at))).collect();
        if ui.format() == OutputFormat::Pretty {
            drafted(ui, args.out.as_deref(), &drafts, written.as_deref());
        }
    }
    if ui.format() == OutputFormat::Json {
        ui.json(&told);
    }
    held_back(ui, &report.run, report.cases.len(), waiting);
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

/// What came of each case.
fn sent(ui: Ui, dry: bool, remarks: &[PushRemark], outcomes: &[(String, PushResult)]) {
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
        ui.note("nothing was sent: all of it was sent before");
    }
}

fn draft(draft: &Draft, form: IssueTracker, outcome: &str) -> Value {
    let mut told = json!(draft);
    told["outcome"] = json!(outcome);
    match form {
        IssueTracker::Jira => told["draft"] = serde_json::from_str(&draft.text).unwrap_or_default(),
        IssueTracker::Github => told["body"] = json!(draft.text),
    }
    told
}

/// Writes drafts, but for those that stand there already, and says which it did.
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

fn drafted(ui: Ui, dir: Option<&Path>, drafts: &[Draft], written: Option<&[&'static str]>) {
    let (Some(dir), Some(written)) = (dir, written) else {
        let texts: Vec<&str> = drafts.iter().map(|draft| draft.text.as_str()).collect();
        ui.out(texts.join("\n").trim_end());
        return;
    };
    for (draft, outcome) in drafts.iter().zip(written) {
        ui.out(&format!("{}: {}", outcome.replace('_', " "), dir.join(&draft.file).display()));
    }
    if !written.is_empty() && written.iter().all(|outcome| *outcome == "unchanged") {
        ui.note("nothing was written: all drafts stand there already");
    }
}

/// Says which cases do not leave, and what would let them.
fn held_back(ui: Ui, run: &str, passed: usize, waiting: &[UnreviewedCase]) {
    let Some(first) = waiting.first() else {
        if passed == 0 {
            ui.note("nothing to push: the run has no cases");
        }
        return;
    };
    let count = waiting.len();
    let cases = counted(count, "case awaits", "cases await");
    let mut help = format!("asterisk review {} approve --suite-id {run}", shell(&first.case));
    let auto = waiting.iter().filter(|case| case.over && case.reviewed_by.is_some()).count();
    if auto > 0 {
        let which = if count == 1 { "it".to_owned() } else { format!("{auto} of them") };
        let _ = write!(help, "\n{which} passed by the word of a script or an agent alone; --accept-auto lets that leave too");
    }
    if passed == 0 {
        let message = format!("nothing to push: {cases} a person's review");
        ui.diagnostic(&Diagnostic::error("push/review", message).help(help));
    } else {
        ui.note(&format!("{cases} a person's review: {help}"));
    }
}
