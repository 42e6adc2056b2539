//! `asterisk review`.

use super::run_view::LiveView;
use super::{FormatArg, GlobalArgs, ProjectArgs, report, save};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_base::model::shell;
use asterisk_diag::counted;
use asterisk_report::{CaseReport, QueuedReview, RunReport, confidence};
use asterisk_session::{HUMAN, ReviewRequest, ReviewWord, Session, SessionError};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Approve, reassess or overturn the analysis of a case, as a person; list the cases that need review.
///
/// A case that waits for its review takes it as the answer; a finished one is reopened at its review. The decision is remembered
/// for that failure: later runs recall it, and no script or agent can revert it. Other failures with the same root cause are
/// unchanged.
///
/// The queue has one case of each cause that the scripted review deferred, ordered by doubt (1 - confidence) times the number of
/// failures that the cause explains.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk review --next\n  asterisk review --list --format json\n  asterisk review 880501 approve\n  asterisk review 880501 reassess --to investigate --message \"look at the proxy\"\n  \
                        asterisk review 880501 overturn --message \"the lab's DNS was down\""
)]
pub(super) struct ReviewArgs {
    /// The case.
    #[arg(required_unless_present_any = ["next", "list"])]
    case: Option<String>,
    /// The run: its id, or `latest`.
    #[arg(long, value_name = "RUN", default_value = "latest")]
    run: String,
    /// Your decision.
    #[arg(value_enum, required_unless_present_any = ["next", "list"])]
    verdict: Option<ReviewWordArg>,
    /// Show the case whose review helps most.
    #[arg(long, conflicts_with_all = ["case", "verdict", "list", "to", "defect_type", "message"])]
    next: bool,
    /// List all cases that need review.
    #[arg(long, conflicts_with_all = ["case", "verdict", "to", "defect_type", "message"])]
    list: bool,
    /// For `reassess`: the node to continue from, by name or code.
    #[arg(long, value_name = "NODE", required_if_eq("verdict", "reassess"))]
    to: Option<String>,
    /// For `overturn`: the correct defect code (`asterisk show data domain` lists them).
    #[arg(long, value_name = "CODE")]
    defect_type: Option<String>,
    /// The reason; for `overturn`, the correct cause.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReviewWordArg {
    /// The analysis is right.
    Approve,
    /// Analyse again.
    Reassess,
    /// The analysis is wrong.
    Overturn,
}

pub(super) fn review(global: &GlobalArgs, args: &ReviewArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let (Some(case), Some(verdict)) = (&args.case, args.verdict) else { return queue(ui, &session, args) };
    let unused = |flag: &str, of: &str| {
        let message = format!("`{flag}` is for `{of}` only");
        Err(SessionError::bad_request("input/review", message, Some(format!("omit it, or use `{of}`"))))
    };
    let verdict = match (verdict, &args.to, &args.defect_type) {
        (ReviewWordArg::Approve | ReviewWordArg::Overturn, Some(_), _) => return unused("--to", "reassess"),
        (ReviewWordArg::Approve | ReviewWordArg::Reassess, _, Some(_)) => return unused("--defect-type", "overturn"),
        (ReviewWordArg::Approve, None, None) => ReviewWord::Approve,
        (ReviewWordArg::Reassess, to, None) => ReviewWord::Reassess(to.clone().unwrap_or_default()),
        (ReviewWordArg::Overturn, None, defect) => ReviewWord::Overturn(defect.clone()),
    };
    let live = LiveView::new(ui, global.verbose, Arc::new(AtomicBool::new(false)), false);
    let message = args.message.as_deref();
    let request = ReviewRequest { run: &args.run, case, verdict: &verdict, message, by: HUMAN };
    let result = session.review(request, &live, &AtomicBool::new(false));
    live.finish();
    save::print_case(ui, &session, global, result?, case)
}

/// Prints the queue, or its first entry.
fn queue(ui: &Ui, session: &Session, args: &ReviewArgs) -> Result<Exit, SessionError> {
    let result = session.result(&args.run)?;
    let (report, exit) = report::build(ui, session, &result)?;
    let queue = report.review_queue();
    if args.next {
        next(ui, &report, queue.first(), queue.len());
    } else if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "run": report.run, "total": queue.len(), "reviews": queue }));
    } else if queue.is_empty() {
        ui.out(&nothing(&report));
    } else {
        let mut table = ui.table(&["case", "finding", "defect", "conf.", "explains", "why"]);
        for entry in &queue {
            let QueuedReview { case, defect_type, .. } = entry;
            table.row([
                case.clone(),
                entry.title.clone(),
                defect_type.clone(),
                confidence(entry.confidence),
                entry.explains.to_string(),
                entry.why.clone(),
            ]);
        }
        ui.out(&table.text());
        ui.note("asterisk review --next shows the first");
    }
    Ok(exit)
}

fn nothing(report: &RunReport) -> String {
    format!("no case of the run {} needs review", report.run)
}

/// Prints what a person needs in order to review a case, and how to answer.
fn next(ui: &Ui, report: &RunReport, entry: Option<&QueuedReview>, waiting: usize) {
    let case = entry.and_then(|entry| report.cases.iter().position(|case| case.case == entry.case.as_str()));
    let whole = case.and_then(|at| report.cases.whole(at));
    if ui.format() == OutputFormat::Json {
        let case = whole.map_or(Value::Null, |case| json!(case));
        ui.json(&json!({ "schema_version": 1, "run": report.run, "total": waiting, "review": entry, "case": case }));
        return;
    }
    let Some(entry) = entry else { return ui.out(&nothing(report)) };
    let mut lines = vec![format!("{} {}", entry.case, entry.name), entry.title.clone()];
    let mut defect = entry.defect_type.clone();
    if !entry.defect_name.is_empty() {
        defect = format!("{} ({defect})", entry.defect_name);
    }
    lines.push(format!(
        "{defect}, confidence {}, explains {}",
        confidence(entry.confidence),
        counted(entry.explains, "failure", "failures")
    ));
    lines.push(format!("why: {}", entry.why));
    lines.extend(whole.into_iter().flat_map(details));
    ui.out(&plain(&lines.join("\n")));
    let run = format!("--run {}", report.run);
    let id = shell(&entry.case);
    ui.note(&format!(
        "{} of the run {}; answer with one of:\n  asterisk review {id} approve {run}\n  asterisk review {id} reassess --to NODE {run}\n  \
         asterisk review {id} overturn --defect-type CODE --message TEXT {run}",
        if waiting == 1 { "the last one waiting".to_owned() } else { format!("the first of {waiting} waiting") },
        report.run
    ));
}

/// The finding, its source, and the alternatives.
fn details(case: &CaseReport) -> Vec<String> {
    let finding = &case.finding;
    let mut lines = vec![String::new(), finding.summary.clone()];
    let other = finding.alternatives.iter().map(|other| format!("{} {:.2}", other.defect_name, other.probability));
    let other: Vec<String> = other.collect();
    if !other.is_empty() {
        lines.push(format!("alternatives: {}", other.join(", ")));
    }
    for (title, items) in [("evidence", &finding.evidence), ("missing", &finding.gaps), ("next steps", &finding.next_steps)] {
        if !items.is_empty() {
            lines.push(format!("{title}:"));
            lines.extend(items.iter().map(|item| format!("  - {item}")));
        }
    }
    lines
}
