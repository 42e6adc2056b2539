//! Which cases share a cause.

use super::build::CaseReport;
use super::finding::Finding;
use super::regression::Seen;
use serde::Serialize;
use std::collections::BTreeMap;

/// How far a chain of cases that follow each other is gone back.
const CHAIN: usize = 8;

/// One cause with the cases that share it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cause {
    /// Its place in the report, from 1.
    pub number: usize,
    /// What went wrong, from its surest case.
    pub finding: Finding,
    /// The case that the finding is taken from.
    pub speaker: String,
    /// The ids of its cases, in the order of the launch.
    pub cases: Vec<String>,
    /// Those of them that failed only because another one did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followers: Vec<String>,
    /// The components its cases suspect, where they are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Whether it is new, and where else it was seen.
    pub seen: Seen,
}

/// Groups cases by cause: those with most cases first, then in the order of the launch. Each cause speaks with the words
/// of its surest case; what only follows another failure does not speak.
pub(super) fn causes(cases: &[CaseReport]) -> Vec<Cause> {
    let known: BTreeMap<&str, &Finding> = cases.iter().map(|case| (case.case.as_str(), &case.finding)).collect();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&CaseReport>> = Vec::new();
    for case in cases {
        let key = key(&known, &case.finding);
        if key.is_empty() {
            continue;
        }
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(case);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups.iter().enumerate().map(|(index, group)| cause(index + 1, group)).collect()
}

/// The key of a case's cause: its own, or that of the case it follows.
fn key<'c>(known: &BTreeMap<&str, &'c Finding>, finding: &'c Finding) -> &'c str {
    let mut finding = finding;
    for _ in 0..CHAIN {
        match known.get(finding.follows.as_str()) {
            Some(first) if !finding.follows.is_empty() && !first.cause.is_empty() => finding = first,
            _ => break,
        }
    }
    &finding.cause
}

fn cause(number: usize, group: &[&CaseReport]) -> Cause {
    let rank = |case: &CaseReport| (case.finding.follows.is_empty(), case.finding.confidence.unwrap_or(0.0));
    let best = group.iter().copied().reduce(|best, case| if rank(case) > rank(best) { case } else { best });
    let ids = |cases: &mut dyn Iterator<Item = &&CaseReport>| cases.map(|case| case.case.clone()).collect::<Vec<_>>();
    let mut components: Vec<String> = Vec::new();
    for case in group {
        let component = &case.finding.component;
        if !component.is_empty() && !components.contains(component) {
            components.push(component.clone());
        }
    }
    if components.len() < 2 {
        components.clear();
    }
    Cause {
        number,
        finding: best.map(|case| case.finding.clone()).unwrap_or_default(),
        speaker: best.map(|case| case.case.clone()).unwrap_or_default(),
        cases: ids(&mut group.iter()),
        followers: ids(&mut group.iter().filter(|case| !case.finding.follows.is_empty())),
        components,
        seen: Seen::default(),
    }
}
