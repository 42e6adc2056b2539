//! Groups cases by cause.

use super::cases::{CaseBrief, CaseReports};
use super::finding::CaseFinding;
use super::timeline::CauseHistory;
use serde::Serialize;
use std::collections::HashMap;

/// Maximum length of a chain of cases that follow each other.
const MAX_CHAIN: usize = 8;

/// A cause with the cases that share it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cause {
    /// Number in the report, from 1.
    pub number: usize,
    /// The finding of its representative case.
    pub finding: CaseFinding,
    /// The case with the highest confidence, from which the finding is taken.
    pub speaker: String,
    /// Ids of its cases, in the order of the launch.
    pub cases: Vec<String>,
    /// Cases that failed only because another one did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followers: Vec<String>,
    /// Suspected components, if the cases disagree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Occurrences in other launches.
    pub seen: CauseHistory,
}

/// Groups cases by cause: those with most cases first, then in the order of the launch. Each cause comes with the index of its
/// representative, the case with the highest confidence that does not merely follow another failure.
pub(super) fn causes(cases: &[CaseBrief]) -> Vec<(Cause, usize)> {
    let known: HashMap<&str, &CaseBrief> = cases.iter().map(|case| (&*case.case, case)).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let key = key(&known, case);
        if key.is_empty() {
            continue;
        }
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(at);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.iter().enumerate().map(|(index, group)| cause(index + 1, cases, group)).collect()
}

/// Fills in the finding of each cause from its representative case.
pub(super) fn with_findings(causes: Vec<(Cause, usize)>, cases: &CaseReports) -> Vec<Cause> {
    let finding = |speaker: usize| cases.whole(speaker).map(|case| case.finding.clone()).unwrap_or_default();
    causes.into_iter().map(|(cause, speaker)| Cause { finding: finding(speaker), ..cause }).collect()
}

/// The cause key of a case: its own, or that of the case it follows.
fn key<'c>(known: &HashMap<&str, &'c CaseBrief>, case: &'c CaseBrief) -> &'c str {
    let mut case = case;
    for _ in 0..MAX_CHAIN {
        match known.get(&*case.follows) {
            Some(first) if !case.follows.is_empty() && !first.cause.is_empty() => case = first,
            _ => break,
        }
    }
    &case.cause
}

fn cause(number: usize, cases: &[CaseBrief], group: &[usize]) -> (Cause, usize) {
    let rank = |at: usize| (cases[at].follows.is_empty(), cases[at].confidence.unwrap_or(0.0));
    let best = group.iter().copied().reduce(|best, at| if rank(at) > rank(best) { at } else { best }).unwrap_or_default();
    let ids = |of: &dyn Fn(&CaseBrief) -> bool| {
        group.iter().map(|at| &cases[*at]).filter(|case| of(case)).map(|case| case.case.to_string()).collect::<Vec<_>>()
    };
    let mut components: Vec<String> = Vec::new();
    for component in group.iter().map(|at| &*cases[*at].component) {
        if !component.is_empty() && !components.iter().any(|known| known == component) {
            components.push(component.to_owned());
        }
    }
    if components.len() < 2 {
        components.clear();
    }
    let cause = Cause {
        number,
        speaker: cases[best].case.to_string(),
        cases: ids(&|_| true),
        followers: ids(&|case| !case.follows.is_empty()),
        components,
        ..Cause::default()
    };
    (cause, best)
}
