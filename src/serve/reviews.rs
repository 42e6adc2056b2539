//! The tools of the review queue.

use super::args::{ListReviews, ReviewCase};
use super::fault::ToolFault;
use super::reading::{LATEST, value};
use super::registry::SessionRegistry;
use asterisk_diag::did_you_mean;
use asterisk_report::{self as report, QueuedReview};
use asterisk_session::{ReviewRequest, ReviewWord, RunListener, Session, SessionError};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// The default maximum number of entries listed.
const LIMIT: usize = 20;
/// How the reviews of these tools are recorded.
const AGENT: &str = "agent";

/// Observes nothing.
struct Unwatched;

impl RunListener for Unwatched {}

/// The requested run, that of the session, or the latest.
fn run_of(registry: &SessionRegistry, asked: Option<String>) -> String {
    asked.or_else(|| registry.current().map(|served| served.run.clone())).unwrap_or_else(|| LATEST.to_owned())
}

/// The id of a run and its queue.
fn queue(session: &Session, run: &str) -> Result<(String, Vec<QueuedReview>), SessionError> {
    let result = session.result(run)?;
    let (report, _) = report::of_run(session, &result)?;
    Ok((result.run.clone(), report.review_queue()))
}

/// The review queue.
pub(super) fn list(registry: &SessionRegistry, args: ListReviews) -> Result<Value, ToolFault> {
    let (run, mut queue) = queue(&registry.session, &run_of(registry, args.run))?;
    let total = queue.len();
    queue.truncate(args.limit.unwrap_or(LIMIT));
    Ok(json!({ "run": run, "total": total, "reviews": value(queue) }))
}

/// An agent's review of a case that waits for one.
pub(super) fn review(registry: &SessionRegistry, args: ReviewCase) -> Result<Value, ToolFault> {
    let ReviewCase { run, case, verdict, to, defect_type, message } = args;
    let verdict = match (verdict.as_str(), to, defect_type) {
        ("approve", None, None) => ReviewWord::Approve,
        ("reassess", Some(to), None) => ReviewWord::Reassess(to),
        ("overturn", None, defect) => ReviewWord::Overturn(defect),
        ("approve" | "reassess" | "overturn", ..) => {
            let message = format!("these arguments do not belong to `{verdict}`");
            return Err(ToolFault::new("arguments", message).help("`reassess` needs `to`; `defect_type` is for `overturn` only"));
        }
        (other, ..) => {
            let hint = did_you_mean(other, ["approve", "reassess", "overturn"]);
            let fault = ToolFault::new("arguments", format!("unknown verdict `{other}`"));
            return Err(fault.help(hint.unwrap_or_else(|| "approve, reassess or overturn".to_owned())));
        }
    };
    let session = &registry.session;
    let (run, waiting) = queue(session, &run_of(registry, run))?;
    if !waiting.iter().any(|entry| entry.case == case) {
        let hint = did_you_mean(&case, waiting.iter().map(|entry| entry.case.as_str()));
        let fault = ToolFault::new("not_waiting", format!("case `{case}` of the run {run} is not in the review queue"));
        return Err(
            fault.help(hint.unwrap_or_else(|| "list_reviews returns the queue; only a person may review other cases".to_owned()))
        );
    }
    let request = ReviewRequest { run: &run, case: &case, verdict: &verdict, message: message.as_deref(), by: AGENT };
    let result = session.review(request, &Unwatched, &AtomicBool::new(false))?;
    let mut summary = Value::Null;
    result.each(|one| {
        if one.case.id == case {
            summary = value(one.summary());
        }
        Ok(())
    })?;
    let (report, _) = report::of_run(session, &result)?;
    report::write(session, &result, &report)?;
    Ok(json!({ "run": run, "case": summary, "waiting": report.review_queue().len() }))
}
