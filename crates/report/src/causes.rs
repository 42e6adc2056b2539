//! Groups cases by cause: those with the same root are one, and one that follows from another is linked to it.

use super::cases::{CaseBrief, CaseReports};
use super::excerpt::FailureExcerpt;
use super::finding::CaseFinding;
use super::timeline::CauseHistory;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

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
    /// Number of the cause that this one only follows from: most of its cases failed because those of that cause did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<usize>,
    /// Suspected components, if the cases disagree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Occurrences in other launches.
    pub seen: CauseHistory,
    /// The texts of the failure of its representative case, for pages that show them.
    #[serde(skip)]
    pub(super) excerpt: FailureExcerpt,
}

/// Groups cases by cause: those with most cases first, then in the order of the launch. Each cause comes with the index of its
/// representative, the case with the highest confidence that does not merely follow another failure.
pub(super) fn causes(cases: &[CaseBrief]) -> Vec<(Cause, usize)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let key = &*case.cause;
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
    let mut causes: Vec<(Cause, usize)> =
        groups.iter().enumerate().map(|(index, group)| cause(index + 1, cases, group)).collect();
    let leaders = leaders(&causes, cases);
    for ((cause, _), leader) in causes.iter_mut().zip(leaders) {
        cause.follows = leader;
    }
    causes
}

/// For each cause, the number of the one that it follows from: the one that most of its cases follow, if most do. Of two that would follow
/// each other, neither does.
fn leaders(causes: &[(Cause, usize)], cases: &[CaseBrief]) -> Vec<Option<usize>> {
    let numbers: HashMap<&str, usize> =
        causes.iter().flat_map(|(cause, _)| cause.cases.iter().map(|case| (case.as_str(), cause.number))).collect();
    let follows: HashMap<&str, &str> = cases.iter().map(|case| (&*case.case, &*case.follows)).collect();
    let leader = |(cause, _): &(Cause, usize)| {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for case in &cause.cases {
            let leader = follows.get(case.as_str()).and_then(|leader| numbers.get(leader));
            if let Some(leader) = leader.filter(|leader| **leader != cause.number) {
                *counts.entry(*leader).or_default() += 1;
            }
        }
        let (leader, count) = counts.into_iter().max_by_key(|(leader, count)| (*count, std::cmp::Reverse(*leader)))?;
        (count * 2 > cause.cases.len()).then_some(leader)
    };
    let leaders: Vec<Option<usize>> = causes.iter().map(leader).collect();
    let mutual = |at: usize, leader: usize| leaders.get(leader - 1).copied().flatten() == Some(at + 1);
    leaders.iter().enumerate().map(|(at, leader)| leader.filter(|leader| !mutual(at, *leader))).collect()
}

/// Fills in the finding of each cause from its representative case.
pub(super) fn with_findings(causes: Vec<(Cause, usize)>, cases: &CaseReports) -> Vec<Cause> {
    let finding = |speaker: usize| cases.whole(speaker).map(|case| case.finding.clone()).unwrap_or_default();
    causes.into_iter().map(|(cause, speaker)| Cause { finding: finding(speaker), ..cause }).collect()
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
