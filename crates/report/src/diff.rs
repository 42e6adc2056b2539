//! Two runs compared, case by case: verdict, cause, and path.

use super::finding::CaseFinding;
use asterisk_session::{CaseResult, RunResult, SessionError};
use serde::Serialize;
use std::collections::BTreeMap;

/// How two runs differ.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunDiff {
    /// The first run.
    pub before: String,
    /// The second run.
    pub after: String,
    /// The number of cases that both runs have and that came to the same in the same way.
    pub same: usize,
    /// The cases that came to something else, or went another way, in the order of the first run.
    pub changed: Vec<CaseDiff>,
    /// The cases that only the first run has.
    pub gone: Vec<DiffedCase>,
    /// The cases that only the second run has.
    pub new: Vec<DiffedCase>,
}

/// A case that differs between two runs.
#[derive(Clone, Debug, Serialize)]
pub struct CaseDiff {
    /// In the first run.
    pub before: DiffedCase,
    /// In the second run.
    pub after: DiffedCase,
    /// What differs: `defect`, `cause`, `component`, `confidence`, `path`, `status`.
    pub differs: Vec<&'static str>,
}

/// The conclusion of a run about a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiffedCase {
    /// Its id.
    pub case: String,
    /// The name of the test.
    pub name: String,
    /// Its suite.
    pub suite: String,
    /// The status of its walk.
    pub status: String,
    /// The defect; empty without a conclusion.
    pub defect: String,
    /// Confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The component.
    pub component: String,
    /// The title of the finding.
    pub title: String,
    /// The edges taken.
    pub path: Vec<String>,
    /// The key of its cause: cases of a run with the same key share it.
    pub cause: String,
}

impl RunDiff {
    /// Compares two runs. Cases are the same if their suite and test have the same names; of several such, in their order.
    pub fn of(before: &RunResult, after: &RunResult) -> Result<Self, SessionError> {
        let (ours, theirs) = (cases(before)?, cases(after)?);
        let mut others: BTreeMap<(String, String, usize), DiffedCase> = numbered(theirs).collect();
        let mut diff = Self { before: before.run.clone(), after: after.run.clone(), ..Self::default() };
        for (key, before) in numbered(ours) {
            match others.remove(&key) {
                None => diff.gone.push(before),
                Some(after) => match differences(&before, &after) {
                    differs if differs.is_empty() => diff.same += 1,
                    differs => diff.changed.push(CaseDiff { before, after, differs }),
                },
            }
        }
        diff.new = others.into_values().collect();
        Ok(diff)
    }
}

/// Cases by suite, name, and how many of these stand before.
fn numbered(cases: Vec<DiffedCase>) -> impl Iterator<Item = ((String, String, usize), DiffedCase)> {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    cases.into_iter().map(move |case| {
        let earlier = seen.entry((case.suite.clone(), case.name.clone())).or_default();
        *earlier += 1;
        ((case.suite.clone(), case.name.clone(), *earlier), case)
    })
}

fn cases(run: &RunResult) -> Result<Vec<DiffedCase>, SessionError> {
    let mut cases = Vec::new();
    run.each(|case| {
        cases.push(DiffedCase::of(case));
        Ok(())
    })?;
    Ok(cases)
}

impl DiffedCase {
    fn of(result: &CaseResult) -> Self {
        let finding = result.finding.clone().and_then(|finding| serde_json::from_value::<CaseFinding>(finding).ok());
        let finding = finding.unwrap_or_default();
        Self {
            case: result.case.id.clone(),
            name: result.case.name.clone(),
            suite: result.case.suite.clone(),
            status: result.state.status.word().to_owned(),
            defect: finding.defect_type,
            confidence: finding.confidence,
            component: finding.component,
            title: finding.title,
            path: result.state.history.iter().map(|visit| visit.edge.to_string()).collect(),
            cause: finding.cause,
        }
    }
}

/// What differs, the weightiest first.
fn differences(before: &DiffedCase, after: &DiffedCase) -> Vec<&'static str> {
    let parts = [
        ("status", before.status != after.status),
        ("defect", before.defect != after.defect),
        ("cause", before.cause != after.cause),
        ("component", before.component != after.component),
        ("confidence", before.confidence != after.confidence),
        ("path", before.path != after.path),
    ];
    parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, name: &str, defect: &str) -> DiffedCase {
        DiffedCase {
            case: id.into(),
            name: name.into(),
            suite: "s".into(),
            status: "done".into(),
            defect: defect.into(),
            confidence: Some(0.7),
            component: "cart".into(),
            title: "t".into(),
            path: vec!["H2".into()],
            cause: "c".into(),
        }
    }

    #[test]
    fn cases_of_the_same_name_are_distinguished_by_their_order() {
        let keys: Vec<_> = numbered(vec![case("1", "a", "x"), case("2", "a", "y"), case("3", "b", "x")])
            .map(|((_, name, number), case)| format!("{name}{number}={}", case.case))
            .collect();
        assert_eq!(keys, ["a1=1", "a2=2", "b1=3"]);
    }

    #[test]
    fn what_differs_is_named() {
        let (one, other) = (case("1", "a", "x"), DiffedCase { path: vec!["H1".into()], ..case("9", "a", "y") });
        assert_eq!(differences(&one, &other), ["defect", "path"], "the id may be another");
        assert!(differences(&one, &one).is_empty());
    }
}
