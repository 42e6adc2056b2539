//! Merges several inputs into one launch: shards of a run, pages of a list, attempts, reports of several tools.

use super::attributes;
use super::part::InputPart;
use super::rerun;
use super::unique::Ids;
use asterisk_base::model::{Attributes, Case, Launch, LaunchCheckout, TestOutcomes};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Merges several inputs into one launch. Files that are attempts of one another (see [`rerun`]) are folded first. Parts of one
/// run (with the same `run_id`) are overlaid: a case that occurs in several of them becomes one case with the data of all. Cases
/// of different runs are all kept, each with its file as `report_file`: the same test may fail on two platforms for two reasons.
/// Of equal ids, later ones get `#2`, `#3`... The same inputs in the same order give the same result.
pub(super) fn merge(parts: Vec<InputPart>) -> Launch {
    let mut runs: Vec<Launch> = Vec::new();
    let mut files: Vec<String> = Vec::new();
    // Of a run whose passed tests are not listed, it is unknown which tests ran.
    let mut only_failures: Vec<bool> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut pages: BTreeMap<usize, (u64, BTreeSet<u64>)> = BTreeMap::new();
    for part in rerun::fold(parts) {
        let InputPart { launch, page, name, .. } = part;
        let index = if let Some(&index) = known.get(&launch.run_id) {
            overlay(&mut runs[index], launch);
            only_failures[index] &= part.only_failures;
            index
        } else {
            known.insert(launch.run_id.clone(), runs.len());
            runs.push(launch);
            files.push(name);
            only_failures.push(part.only_failures);
            runs.len() - 1
        };
        if let Some((number, all)) = page {
            let (most, seen) = pages.entry(index).or_default();
            *most = all.max(*most);
            seen.insert(number);
        }
    }
    for (index, (all, seen)) in pages {
        if let Some(note) = missing_pages(all, &seen) {
            runs[index].gap(note);
        }
    }
    for (run, only_failures) in runs.iter_mut().zip(only_failures) {
        if only_failures {
            run.outcomes = TestOutcomes::default();
        }
    }
    if runs.len() == 1 {
        return runs.swap_remove(0);
    }
    let mut merged = Launch::default();
    let mut ids = Ids::default();
    let count = runs.len();
    for (run, file) in runs.iter_mut().zip(&files) {
        for case in &mut run.cases {
            case.id = ids.take(&case.id);
            attributes::add(&mut case.attributes, "report_file", file);
        }
    }
    merged.run_id = joined(runs.iter().map(|run| run.run_id.as_str()), "+");
    merged.name = joined(runs.iter().map(|run| run.name.as_str()), " + ");
    merged.number = agreed(runs.iter().map(|run| run.number));
    merged.status = status(&runs);
    merged.started_at = runs.iter().filter_map(|run| run.started_at).min();
    merged.ended_at = runs.iter().filter_map(|run| run.ended_at).max();
    merged.git = LaunchCheckout {
        branch: agreed(runs.iter().map(|run| run.git.branch.clone())),
        commit: agreed(runs.iter().map(|run| run.git.commit.clone())),
        remote: agreed(runs.iter().map(|run| run.git.remote.clone())),
    };
    for run in runs {
        add_all(&mut merged.attributes, &run.attributes);
        for (outcome, count) in run.totals {
            let total = merged.totals.entry(outcome).or_default();
            *total = total.saturating_add(count);
        }
        merged.cases.extend(run.cases);
        merged.outcomes.merge(run.outcomes);
        let named = |note| if run.name.is_empty() { note } else { format!("{}: {note}", run.name) };
        merged.notes.extend(run.notes.into_iter().map(named));
        merged.gaps.extend(run.gaps.into_iter().map(named));
    }
    if count > 1 {
        merged.notes.push(format!("{count} launches merged"));
    }
    merged
}

/// The note on a paged list with missing pages.
fn missing_pages(all: u64, seen: &BTreeSet<u64>) -> Option<String> {
    // The number of pages is the input's claim: never iterate up to it.
    let missing = all.saturating_sub(seen.range(1..=all.max(1)).count() as u64);
    match (missing, seen.first()) {
        (0, _) | (_, None) => None,
        (_, Some(number)) if seen.len() == 1 => {
            Some(format!("this is page {number} of {all}: pass all of them to see every failure"))
        }
        (count, _) => Some(format!("of {all} pages {count} are missing: pass all of them to see every failure")),
    }
}

/// Overlays `more`, a part of the same run, on `launch`.
fn overlay(launch: &mut Launch, more: Launch) {
    let known: HashMap<(String, String), usize> =
        launch.cases.iter().enumerate().map(|(index, case)| ((case.id.clone(), case.name.clone()), index)).collect();
    let mut ids = Ids::default();
    for case in &launch.cases {
        ids.take(&case.id);
    }
    for mut case in more.cases {
        if let Some(&index) = known.get(&(case.id.clone(), case.name.clone())) {
            fill_in(&mut launch.cases[index], case);
        } else {
            case.id = ids.take(&case.id);
            launch.cases.push(case);
        }
    }
    if launch.name.is_empty() {
        launch.name = more.name;
    }
    launch.number = launch.number.or(more.number);
    launch.status = launch.status.take().or(more.status);
    launch.started_at = [launch.started_at, more.started_at].into_iter().flatten().min();
    launch.ended_at = [launch.ended_at, more.ended_at].into_iter().flatten().max();
    launch.git.branch = launch.git.branch.take().or(more.git.branch);
    launch.git.commit = launch.git.commit.take().or(more.git.commit);
    launch.git.remote = launch.git.remote.take().or(more.git.remote);
    add_all(&mut launch.attributes, &more.attributes);
    launch.outcomes.merge(more.outcomes);
    // Each part counts the whole run up to its own time: the maximum is the latest.
    for (outcome, count) in more.totals {
        let total = launch.totals.entry(outcome).or_default();
        *total = count.max(*total);
    }
    for note in more.notes {
        if !launch.notes.contains(&note) {
            launch.notes.push(note);
        }
    }
    for gap in more.gaps {
        if !launch.gaps.contains(&gap) {
            launch.gaps.push(gap);
        }
    }
}

/// Fills in fields that `case` lacks from `more`, the same case in another input.
fn fill_in(case: &mut Case, more: Case) {
    if case.suite.is_empty() {
        case.suite = more.suite;
    }
    // The recall key is derived from the error, so they are taken together.
    if case.error_message.is_empty() && !more.error_message.is_empty() {
        (case.error_message, case.recall_key) = (more.error_message, more.recall_key);
    }
    if case.log_snippet.is_empty() {
        (case.log_snippet, case.log_cut) = (more.log_snippet, more.log_cut);
    }
    case.file = case.file.take().or(more.file);
    case.started_at = case.started_at.or(more.started_at);
    case.duration_s = case.duration_s.or(more.duration_s);
    case.source_defect = case.source_defect.take().or(more.source_defect);
    add_all(&mut case.attributes, &more.attributes);
}

fn add_all(into: &mut Attributes, more: &Attributes) {
    for (name, value) in more.iter() {
        match into.get(name) {
            Some(known) if known == value => {}
            _ => attributes::add(into, name, value),
        }
    }
}

/// The distinct parts, in order.
fn joined<'a>(parts: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut different: Vec<&str> = Vec::new();
    for part in parts {
        if !part.is_empty() && !different.contains(&part) {
            different.push(part);
        }
    }
    different.join(between)
}

/// The value that all present ones agree on.
fn agreed<T: PartialEq>(values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let mut values = values.flatten();
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// The common status, or that of the first launch with failures.
fn status(runs: &[Launch]) -> Option<String> {
    agreed(runs.iter().map(|run| run.status.clone()))
        .or_else(|| runs.iter().find(|run| !run.cases.is_empty()).and_then(|run| run.status.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::clock::Timestamp;

    fn merge(launches: Vec<Launch>) -> Launch {
        super::merge(launches.into_iter().map(|launch| InputPart { launch, ..InputPart::default() }).collect())
    }

    fn case(id: &str, error: &str) -> Case {
        Case {
            id: id.to_owned(),
            name: id.to_owned(),
            error_message: error.to_owned(),
            recall_key: format!("k{error}"),
            ..Case::default()
        }
    }

    fn launch(run: &str, cases: Vec<Case>) -> Launch {
        Launch { run_id: run.to_owned(), name: format!("n{run}"), cases, ..Launch::default() }
    }

    #[test]
    fn zero_and_one_launch_are_unchanged() {
        assert_eq!(merge(Vec::new()), Launch::default());
        let one = launch("1", vec![case("a", "")]);
        assert_eq!(merge(vec![one.clone()]), one);
    }

    #[test]
    fn cases_of_different_runs_are_kept_under_distinct_ids() {
        let mut first = launch("1", vec![case("a", "x")]);
        let mut second = launch("2", vec![case("a", "y"), case("b", "")]);
        first.totals.insert("failed".to_owned(), 1);
        second.totals.insert("failed".to_owned(), 2);
        first.attributes.insert("lane", "p");
        second.attributes.insert("lane", "q");
        (first.status, second.status) = (Some("PASSED".to_owned()), Some("PASSED".to_owned()));
        second.started_at = Some(Timestamp::from_millis(5));
        second.notes.push("a note".to_owned());
        second.git.branch = Some("main".to_owned());
        let merged = merge(vec![first, second]);
        let ids: Vec<&str> = merged.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["a", "a#2", "b"]);
        assert_eq!((merged.run_id.as_str(), merged.name.as_str()), ("1+2", "n1 + n2"));
        assert_eq!(merged.totals["failed"], 3);
        assert_eq!(&merged.attributes["lane"], "p, q");
        assert_eq!((merged.status.as_deref(), merged.git.branch.as_deref()), (Some("PASSED"), Some("main")));
        assert_eq!(merged.notes, ["n2: a note", "2 launches merged"]);
    }

    #[test]
    fn parts_of_one_run_are_overlaid() {
        let mut bare = launch("1", vec![case("a", ""), case("b", "old")]);
        let mut full = launch("1", vec![case("b", "new"), case("a", "boom"), case("c", "")]);
        bare.totals.insert("failed".to_owned(), 3);
        full.totals.insert("failed".to_owned(), 3);
        full.cases[1].source_defect = Some("d1".to_owned());
        let merged = merge(vec![bare, full]);
        let cases: Vec<(&str, &str, &str)> =
            merged.cases.iter().map(|case| (case.id.as_str(), case.error_message.as_str(), case.recall_key.as_str())).collect();
        assert_eq!(cases, [("a", "boom", "kboom"), ("b", "old", "kold"), ("c", "", "k")]);
        assert_eq!(merged.cases[0].source_defect.as_deref(), Some("d1"));
        assert_eq!(merged.totals["failed"], 3);
    }

    #[test]
    fn missing_pages_are_noted() {
        let page = |number, id: &str| InputPart {
            page: Some((number, 3)),
            launch: launch("1", vec![case(id, "")]),
            ..InputPart::default()
        };
        let notes = |parts| super::merge(parts).notes;
        assert_eq!(notes(vec![page(2, "a")]), ["this is page 2 of 3: pass all of them to see every failure"]);
        assert_eq!(notes(vec![page(2, "a"), page(1, "b")]), ["of 3 pages 1 are missing: pass all of them to see every failure"]);
        assert_eq!(notes(vec![page(3, "c"), page(2, "a"), page(1, "b")]), [""; 0]);
        let claimed = missing_pages(u64::MAX, &BTreeSet::from([0, 1, u64::MAX]));
        assert_eq!(
            claimed,
            Some(format!("of {0} pages {1} are missing: pass all of them to see every failure", u64::MAX, u64::MAX - 2))
        );
    }
}
