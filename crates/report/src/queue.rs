//! The review queue: the causes of a run that need review, most uncertain and most frequent first.

use super::build::RunReport;
use super::cases::CaseBrief;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The reviewer whose word settles a cause.
const HUMAN: &str = "human";
/// The decision that settles it for all failures that share it.
const APPROVED: &str = "approve";

/// A case that needs review, on behalf of all failures of its cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueuedReview {
    /// Id of the case.
    pub case: String,
    /// Name of the test.
    pub name: String,
    /// Number of its cause in the report; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<usize>,
    /// Title of the finding.
    pub title: String,
    /// Defect type code.
    pub defect_type: String,
    /// Name of the defect type.
    pub defect_name: String,
    /// Suspected component.
    pub component: String,
    /// Confidence of the conclusion; null without a conclusion.
    pub confidence: Option<f64>,
    /// Number of failures that it explains and no person reviewed.
    pub explains: usize,
    /// Doubt times the failures explained: what the queue is ordered by.
    pub weight: f64,
    /// Why it needs review.
    pub why: String,
}

impl RunReport {
    /// The cases that need review: one of each cause, by doubt times the failures that the cause explains, then in the order of the
    /// launch. A cause that a person approved in one case is not listed.
    pub fn review_queue(&self) -> Vec<QueuedReview> {
        let place: HashMap<&str, usize> = self.cases.iter().enumerate().map(|(at, case)| (&*case.case, at)).collect();
        let mut queue = Vec::new();
        let mut grouped: HashSet<usize> = HashSet::new();
        for cause in &self.causes {
            let members: Vec<usize> = cause.cases.iter().filter_map(|case| place.get(case.as_str()).copied()).collect();
            grouped.extend(&members);
            let speaker = place.get(cause.speaker.as_str()).copied();
            queue.extend(self.entry(&members, speaker, Some((cause.number, &cause.finding.title))));
        }
        let alone = (0..self.cases.len()).filter(|at| !grouped.contains(at));
        queue.extend(alone.filter_map(|at| self.entry(&[at], Some(at), None)));
        queue.sort_by(|(a, first), (b, second)| {
            b.weight.total_cmp(&a.weight).then(b.explains.cmp(&a.explains)).then(first.cmp(second))
        });
        queue.into_iter().map(|(entry, _)| entry).collect()
    }

    /// The entry of a group of cases, with the place of the case that represents it: the one that represents the cause if it needs review,
    /// else the first that does.
    fn entry(&self, members: &[usize], speaker: Option<usize>, cause: Option<(usize, &str)>) -> Option<(QueuedReview, usize)> {
        let case = |at: usize| -> &CaseBrief { &self.cases[at] };
        let waits = |at: &usize| !case(*at).needs_review.is_empty();
        let by_person = |at: &usize| case(*at).reviewed_by.as_deref() == Some(HUMAN);
        if members.iter().any(|at| by_person(at) && case(*at).decision.as_deref() == Some(APPROVED)) {
            return None;
        }
        let first = speaker.filter(|at| waits(at)).or_else(|| members.iter().copied().find(waits))?;
        let brief = case(first);
        let explains = members.iter().filter(|at| !by_person(at)).count();
        #[allow(clippy::cast_precision_loss)]
        let weight = (1.0 - brief.confidence.unwrap_or(0.0)).max(0.0) * explains as f64;
        let title = cause.map(|(_, title)| title.to_owned());
        let entry = QueuedReview {
            case: brief.case.to_string(),
            name: brief.name.to_string(),
            cause: cause.map(|(number, _)| number),
            title: title.or_else(|| self.cases.whole(first).map(|case| case.finding.title.clone())).unwrap_or_default(),
            defect_type: brief.defect_type.to_string(),
            defect_name: brief.defect_name.to_string(),
            component: brief.component.to_string(),
            confidence: brief.confidence,
            explains,
            weight: (weight * 1e6).round() / 1e6,
            why: brief.needs_review.to_string(),
        };
        Some((entry, first))
    }
}

#[cfg(test)]
mod tests {
    use crate::build::report_of;
    use crate::case::CaseReport;
    use crate::finding::{CaseFinding, Review};

    fn case(id: &str, cause: &str, confidence: f64, review: (&str, &str)) -> CaseReport {
        let (decision, by) = review;
        let finding = CaseFinding {
            title: format!("title of {id}"),
            cause: cause.into(),
            confidence: Some(confidence),
            review: Some(Review { decision: decision.into(), by: by.into() }),
            needs_review: if decision == "defer" { format!("{id} is doubtful") } else { String::new() },
            ..CaseFinding::default()
        };
        CaseReport { case: id.into(), name: format!("test {id}"), finding, ..CaseReport::default() }
    }

    fn queue(cases: Vec<CaseReport>) -> Vec<(String, usize, f64)> {
        report_of(cases).review_queue().into_iter().map(|entry| (entry.case, entry.explains, entry.weight)).collect()
    }

    #[test]
    fn doubt_times_failures_explained_comes_first() {
        let deferred = ("defer", "script");
        let found = queue(vec![
            case("a", "one", 0.25, deferred),
            case("b", "many", 0.5, deferred),
            case("c", "many", 0.75, deferred),
            case("d", "many", 0.5, ("approve", "script")),
            case("e", "", 0.5, deferred),
            case("f", "sure", 0.9, ("approve", "script")),
        ]);
        assert_eq!(
            found,
            [("c".into(), 3, 0.75), ("a".into(), 1, 0.75), ("e".into(), 1, 0.5)].map(|(a, b, c): (String, _, _)| (a, b, c))
        );
    }

    #[test]
    fn a_persons_approval_settles_a_cause_and_an_overturn_only_its_case() {
        let deferred = ("defer", "script");
        let with = |decision, by| {
            queue(vec![case("a", "k", 0.5, (decision, by)), case("b", "k", 0.5, deferred), case("c", "k", 0.5, deferred)])
        };
        assert_eq!(with("approve", "human"), []);
        assert_eq!(with("overturn", "human"), [("b".to_owned(), 2, 1.0)]);
        assert_eq!(with("approve", "agent"), [("b".to_owned(), 3, 1.5)]);
    }
}
