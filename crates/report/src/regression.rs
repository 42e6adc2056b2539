//! Compares a launch with earlier ones: causes that are new, recurring or gone, over launches and versions.
//!
//! The store determines which causes are the same: those that share a root cause or a symptom, and those that this report groups. Titles
//! and texts are never compared.

use super::causes::Cause;
use super::identity::{Groups, IdentityNode};
use super::timeline::{CauseHistory, CauseState, CauseTimeline, LaunchOccurrence, Regression, VanishedCause, launch_label};
use asterisk_base::clock::Timestamp;
use asterisk_store::{KnownHistory, PastCase, PastLaunch};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of other launches listed for a cause.
const MAX_PLACES: usize = 20;
/// Maximum number of tests listed for a vanished cause.
const MAX_TESTS: usize = 10;
/// Maximum number of launches in the matrix, the latest ones.
const MAX_COLUMNS: usize = 12;

/// Compares the causes of a run with the history, and fills in their occurrences in other launches. `whole`: the run walked all failures of
/// its launch.
pub(super) fn compare(causes: &mut [Cause], history: &KnownHistory, whole: bool) -> Regression {
    let mut groups = Groups::of(history);
    let mut own: Vec<&PastCase> = history.cases.iter().filter(|case| case.launch == history.current).collect();
    own.sort_unstable_by(|a, b| a.case.cmp(&b.case));
    let mut nodes: Vec<Vec<IdentityNode>> = Vec::with_capacity(causes.len());
    for cause in causes.iter() {
        let find = |id: &str| own.binary_search_by(|case| case.case.as_str().cmp(id)).ok().map(|at| own[at]);
        let mut all: Vec<IdentityNode> = cause.cases.iter().filter_map(|case| find(case)).flat_map(Groups::nodes).collect();
        all.sort_unstable();
        all.dedup();
        all.shrink_to_fit();
        groups.join(all.iter().copied());
        nodes.push(all);
    }
    drop(own);
    let occurrences = groups.occurrences(history);
    let name = history.launches.get(history.current).map_or("", |launch| launch.name.as_str());
    let line: Vec<usize> = (0..=history.current.min(history.launches.len().saturating_sub(1)))
        .filter(|index| history.launches.get(*index).is_some_and(|launch| launch.name == name))
        .collect();
    let mut out =
        Regression { launches: line.iter().map(|index| place(history, *index, None)).collect(), ..Regression::default() };
    let mut matched = BTreeSet::new();
    for (cause, nodes) in causes.iter_mut().zip(nodes) {
        let Some(group) = nodes.first().and_then(|node| groups.find(*node)) else { continue };
        let Some(occurrence) = occurrences.get(&group) else { continue };
        matched.insert(group);
        cause.seen = seen(cause, history, &occurrence.failures, &line);
        (cause.seen.rcas, cause.seen.symptoms) = Groups::ids(&nodes);
        if let Some(state) = cause.seen.state {
            let list = match state {
                CauseState::New => &mut out.new,
                CauseState::Recurring => &mut out.recurring,
                CauseState::Regression => &mut out.regressions,
                CauseState::Flaky => &mut out.flaky,
            };
            list.push(cause.number);
        }
        if occurrence.failures.len() > 1 {
            let flaky = cause.finding.flaky;
            out.matrix.push(matrix_line(Some(cause.number), &cause.finding.title, history, &line, &occurrence.failures, !flaky));
        }
    }
    // In order of first occurrence; set numbers are arbitrary.
    let mut in_order: Vec<_> = occurrences.iter().collect();
    in_order.sort_unstable_by_key(|(_, occurrence)| occurrence.first);
    for (group, occurrence) in in_order {
        let here = occurrence.failures.contains_key(&history.current);
        let in_line = occurrence.failures.keys().any(|launch| line.contains(launch));
        if matched.contains(group) || here || !in_line {
            continue;
        }
        let gone = gone(history, occurrence, &line);
        if occurrence.failures.len() > 1 {
            out.matrix.push(matrix_line(None, &gone.title, history, &line, &occurrence.failures, true));
        }
        out.gone.extend(whole.then_some(gone));
    }
    out.gone.sort_by_key(|gone| (gone.absent, std::cmp::Reverse(gone.launches)));
    out.matrix.sort_by_key(|line| (std::cmp::Reverse(line.versions), line.cause.is_none(), line.cause));
    out
}

/// Number of failures by launch.
type Failures = BTreeMap<usize, usize>;

fn seen(cause: &Cause, history: &KnownHistory, failures: &Failures, line: &[usize]) -> CauseHistory {
    let earlier: Vec<usize> = failures.keys().copied().filter(|launch| *launch < history.current).collect();
    let last = earlier.iter().rev().find(|launch| line.contains(launch));
    let absent = last.map_or(0, |last| line.iter().filter(|launch| *launch > last && **launch < history.current).count());
    let state = match earlier.first() {
        _ if cause.finding.flaky => CauseState::Flaky,
        None => CauseState::New,
        Some(_) if cause.finding.regression || absent > 0 => CauseState::Regression,
        Some(_) => CauseState::Recurring,
    };
    let others = failures.keys().rev().filter(|launch| **launch != history.current);
    CauseHistory {
        state: Some(state),
        launches: failures.len(),
        versions: versions(history, failures),
        since: earlier.first().map(|launch| place(history, *launch, failures.get(launch))),
        absent,
        elsewhere: others.take(MAX_PLACES).map(|launch| place(history, *launch, failures.get(launch))).collect(),
        ..CauseHistory::default()
    }
}

fn gone(history: &KnownHistory, occurrence: &super::identity::GroupOccurrence, line: &[usize]) -> VanishedCause {
    let launches: Vec<usize> = occurrence.failures.keys().copied().collect();
    let first = launches.first().copied().unwrap_or_default();
    let last = launches.iter().rev().find(|launch| line.contains(launch)).copied().unwrap_or(first);
    let (rcas, symptoms) = Groups::ids(&occurrence.nodes);
    let rca = rcas.iter().filter_map(|id| history.rcas.get(id)).find(|rca| !rca.title.is_empty());
    let mut tests: Vec<String> = Vec::new();
    for (test, _) in symptoms.iter().filter_map(|id| history.symptoms.get(id)) {
        if !tests.contains(test) && tests.len() < MAX_TESTS {
            tests.push(test.clone());
        }
    }
    let category =
        symptoms.iter().find_map(|id| history.symptoms.get(id)).map_or(String::new(), |(_, category)| category.clone());
    VanishedCause {
        title: rca.map_or_else(|| tests.first().cloned().unwrap_or_default(), |rca| rca.title.clone()),
        defect_type: rca.map_or(String::new(), |rca| rca.defect_type.clone()),
        component: rca.map_or(String::new(), |rca| rca.component.clone()),
        category,
        tests,
        since: place(history, first, occurrence.failures.get(&first)),
        last: place(history, last, occurrence.failures.get(&last)),
        launches: launches.len(),
        absent: line.iter().filter(|launch| **launch > last).count(),
        rcas,
        symptoms,
    }
}

fn matrix_line(
    cause: Option<usize>,
    title: &str,
    history: &KnownHistory,
    line: &[usize],
    failures: &Failures,
    steady: bool,
) -> CauseTimeline {
    let versions = versions(history, failures).len().max(usize::from(!failures.is_empty()));
    let latest = line.iter().skip(line.len().saturating_sub(MAX_COLUMNS));
    CauseTimeline {
        cause,
        title: title.to_owned(),
        versions,
        serial: steady && versions > 1,
        cells: latest.map(|launch| failures.get(launch).copied().unwrap_or_default()).collect(),
    }
}

/// The versions of launches in order, without duplicates; a launch without a version represents itself.
fn versions(history: &KnownHistory, failures: &Failures) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for launch in failures.keys().filter_map(|launch| history.launches.get(*launch)) {
        let version = launch_label(&launch.version, &launch.name, launch.number, &launch.id);
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions
}

/// A launch with a number of failures; by default all that were analysed.
fn place(history: &KnownHistory, index: usize, failures: Option<&usize>) -> LaunchOccurrence {
    let launch = history.launches.get(index).cloned();
    let launch = launch.unwrap_or(PastLaunch {
        id: String::new(),
        name: String::new(),
        number: None,
        version: String::new(),
        at: Timestamp::default(),
        failures: 0,
    });
    let PastLaunch { id, name, number, version, at, failures: all } = launch;
    LaunchOccurrence { launch: id, name, number, version, at, failures: failures.copied().unwrap_or(all) }
}
