//! Selects the cases that may be pushed to other systems, those reviewed by a person (`docs/decisions/0013-human-gate.md`), and renders
//! their remarks.

use super::build::{RunReport, build_of};
use super::case::CaseReport;
use super::markdown::confidence;
use super::text::clean;
use asterisk_diag::Diagnostics;
use asterisk_session::{PUSH_MARK, PushRemark, RunResult, SessionError};
use asterisk_store::KnownHistory;
use asterisk_walk::WalkStatus;
use serde::Serialize;
use std::fmt::Write as _;

/// Review decisions that approve a case.
const APPROVING: [&str; 2] = ["approve", "overturn"];
/// The reviewer whose approval suffices.
const HUMAN: &str = "human";

/// A case that may not be pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreviewedCase {
    /// Id of the case.
    pub case: String,
    /// Who approved it, if anyone did: `agent` or `script`.
    pub reviewed_by: Option<String>,
    /// Whether its walk is finished.
    pub over: bool,
}

/// The report restricted to the cases that may be pushed, and the other cases.
#[derive(Debug)]
pub struct PushableReport {
    /// The report to push.
    pub report: RunReport,
    /// The cases to hold back.
    pub waiting: Vec<UnreviewedCase>,
}

/// Selects the cases of a run that a person approved or overturned; with `auto` also those approved by an agent or a script.
pub fn passed(
    result: &RunResult,
    history: impl FnOnce() -> Result<Option<KnownHistory>, SessionError>,
    auto: bool,
) -> Result<(PushableReport, Diagnostics), SessionError> {
    let mut waiting = Vec::new();
    let (report, found) = build_of(result, history, |case| {
        let passes = passes(case, auto);
        if !passes {
            let approval = case.finding.review.as_ref().filter(|review| APPROVING.contains(&review.decision.as_str()));
            let reviewed_by = approval.map(|review| review.by.clone());
            waiting.push(UnreviewedCase { case: case.case.clone(), reviewed_by, over: case.status == WalkStatus::Done });
        }
        passes
    })?;
    Ok((PushableReport { report, waiting }, found))
}

fn passes(case: &CaseReport, auto: bool) -> bool {
    let reviewed = case.finding.review.as_ref();
    case.status == WalkStatus::Done
        && reviewed.is_some_and(|review| APPROVING.contains(&review.decision.as_str()) && (auto || review.by == HUMAN))
}

/// The remarks on each case, for the source of its launch.
pub fn remarks(report: &RunReport) -> Result<Vec<PushRemark>, SessionError> {
    let mut remarks = Vec::new();
    let lost = |source| SessionError::Write { path: "a temporary file".into(), source };
    let read = report.cases.each(|case| {
        remarks.push(remark(report, case));
        Ok(())
    });
    read.map_err(lost)?;
    Ok(remarks)
}

fn remark(report: &RunReport, case: &CaseReport) -> PushRemark {
    let finding = &case.finding;
    let review = finding.review.as_ref();
    let auto = review.is_none_or(|review| review.by != HUMAN);
    let mut comment = clean(&finding.title).into_owned();
    if !finding.summary.is_empty() && finding.summary != finding.title {
        let _ = write!(comment, "\n\n{}", clean(&finding.summary));
    }
    let decision = match review.map(|review| review.decision.as_str()) {
        Some("overturn") => "overturned",
        _ => "approved",
    };
    let by = review.map_or("nobody", |review| if auto { review.by.as_str() } else { "a person" });
    let _ = write!(
        comment,
        "\n\n{PUSH_MARK}{}, case {}, {} ({}), confidence {}, {decision} by {by}.",
        report.run,
        case.case,
        finding.defect_name,
        finding.defect_type,
        confidence(finding.confidence)
    );
    PushRemark { case: case.case.clone(), issue_type: finding.issue_type.clone(), comment, auto }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{CaseFinding, Review};

    fn case(status: WalkStatus, review: Option<(&str, &str)>) -> CaseReport {
        let review = review.map(|(decision, by)| Review { decision: decision.into(), by: by.into() });
        CaseReport { status, finding: CaseFinding { review, ..CaseFinding::default() }, ..CaseReport::default() }
    }

    #[test]
    fn only_cases_approved_by_a_person_are_pushed() {
        for (case, human, auto) in [
            (case(WalkStatus::Done, Some(("approve", "human"))), true, true),
            (case(WalkStatus::Done, Some(("overturn", "human"))), true, true),
            (case(WalkStatus::Done, Some(("approve", "script"))), false, true),
            (case(WalkStatus::Done, Some(("approve", "agent"))), false, true),
            (case(WalkStatus::Done, Some(("reassess", "human"))), false, false),
            (case(WalkStatus::Done, None), false, false),
            (case(WalkStatus::Paused, Some(("approve", "human"))), false, false),
            (case(WalkStatus::Error, Some(("approve", "human"))), false, false),
        ] {
            assert_eq!((passes(&case, false), passes(&case, true)), (human, auto), "{case:?}");
        }
    }
}
