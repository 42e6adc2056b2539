//! Folds files that are attempts of one another: `junit.xml` and `junit-rerun-1.xml`, `attempt-1/` and `attempt-2/`, bazel's
//! `test.xml` and `test_attempts/attempt_1.xml`.
//!
//! Only file names distinguish attempts from the same tests run elsewhere (another platform, another shard). A test that failed
//! first and passed in a later attempt is not a case: it counts as passed and `flaky`, and is named in a note. A test that failed
//! in several attempts is one case of the last one, with `attempts` and `retries`, and with `earlier_error` if that was another
//! error. A test that a later attempt did not run again is unchanged.

use super::part::InputPart;
use super::unique::name_hash;
use super::{attempts, attributes};
use asterisk_base::model::{Launch, normalise_error};
use regex::Regex;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// The part of a path with the number of the attempt, set off from its neighbours.
static MARK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)(^|[-_./\\ ])(?:re-?run|re-?try|attempt)s?[-_. #]?([0-9]{0,6})(?P<end>[-_./\\ ]|$)").ok());

/// Where bazel stores the attempts before the last.
const BAZEL: &str = "/test_attempts/attempt_";

/// The maximum number of names in a note.
const MAX_NAMES: usize = 10;

/// Splits a name into what attempts share and the number of the attempt: a name without a mark is first, bazel's `test.xml` last.
fn attempt(name: &str) -> (String, u64) {
    if let Some((dir, file)) = name.rsplit_once(BAZEL)
        && let Some(number) = file.strip_suffix(".xml").and_then(|number| number.parse().ok())
    {
        return (format!("{dir}/test.xml"), number);
    }
    if let Some(captures) = MARK.as_ref().and_then(|mark| mark.captures(name)) {
        let number = captures.get(2).and_then(|number| number.as_str().parse::<u64>().ok());
        let (whole, end) = (captures.get(0), captures.name("end").map_or("", |end| end.as_str()));
        let (from, to) = whole.map_or((0, 0), |whole| (whole.start(), whole.end()));
        let before = captures.get(1).map_or("", |before| before.as_str());
        // `junit-rerun.xml` belongs to `junit.xml`, `attempt-1/a.xml` to `attempt-2/a.xml`.
        let between = if before == "/" || before.is_empty() { before } else { "" };
        let kept = if between.is_empty() && !end.is_empty() && from > 0 { end } else { between };
        return (format!("{}{kept}{}", &name[..from], &name[to..]), number.unwrap_or(1));
    }
    // If bazel has attempts at all, the file next to them is the last.
    (name.to_owned(), if name.ends_with("/test.xml") { u64::MAX } else { 0 })
}

/// Folds attempts; all other parts are kept, in order.
pub(super) fn fold(parts: Vec<InputPart>) -> Vec<InputPart> {
    if parts.len() < 2 {
        return parts;
    }
    let mut groups: Vec<Vec<(u64, InputPart)>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for part in parts {
        let (base, number) = attempt(&part.name);
        match known.get(&base) {
            Some(&index) if !part.name.is_empty() => groups[index].push((number, part)),
            _ => {
                known.insert(base, groups.len());
                groups.push(vec![(number, part)]);
            }
        }
    }
    groups.into_iter().filter_map(fold_group).collect()
}

fn fold_group(mut group: Vec<(u64, InputPart)>) -> Option<InputPart> {
    group.sort_by_key(|(number, _)| *number);
    let attempts = group.len();
    let mut parts = group.into_iter().map(|(_, part)| part);
    let mut first = parts.next()?;
    if attempts == 1 {
        return Some(first);
    }
    let mut tried: BTreeMap<String, usize> = BTreeMap::new();
    let mut flaky = Vec::new();
    for part in parts {
        flaky.extend(apply_attempt(&mut first, part, &mut tried));
    }
    let launch = &mut first.launch;
    launch.notes.push(format!("{attempts} attempts merged into one run"));
    if !flaky.is_empty() {
        *launch.totals.entry("flaky".to_owned()).or_default() += flaky.len() as u64;
        let shown: Vec<String> = flaky.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
        let more = flaky.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        launch.notes.push(format!("passed in a later attempt: {}{more}", shown.join(", ")));
    }
    if launch.cases.is_empty() {
        launch.status = Some("PASSED".to_owned());
    }
    Some(first)
}

/// Applies a later attempt. Returns the tests that failed before and passed now.
fn apply_attempt(known: &mut InputPart, mut later: InputPart, tried: &mut BTreeMap<String, usize>) -> Vec<String> {
    let passed_now: HashSet<u64> = later.passed.iter().copied().collect();
    let passed_before: HashSet<u64> = known.passed.iter().copied().collect();
    known.launch.outcomes.merge_attempts(std::mem::take(&mut later.launch.outcomes));
    known.only_failures &= later.only_failures;
    let mut flaky = Vec::new();
    let Launch { cases, outcomes, .. } = &mut known.launch;
    cases.retain(|case| {
        let passed = passed_now.contains(&name_hash(&case.id));
        if passed {
            outcomes.name(&case.suite, &case.name);
            flaky.push(case.id.clone());
        }
        !passed
    });
    let mut add = |outcome: &str, by: usize| *known.launch.totals.entry(outcome.to_owned()).or_default() += by as u64;
    let new_passes = passed_now.difference(&passed_before).count().saturating_sub(flaky.len());
    add("passed", new_passes + flaky.len());
    add("total", new_passes);
    let places: HashMap<String, usize> =
        known.launch.cases.iter().enumerate().map(|(index, case)| (case.id.clone(), index)).collect();
    let mut failed = -i64::try_from(flaky.len()).unwrap_or(i64::MAX);
    for mut case in later.launch.cases {
        if let Some(&index) = places.get(&case.id) {
            let count = tried.entry(case.id.clone()).or_insert(1);
            *count += 1;
            let before = &mut known.launch.cases[index];
            let earlier = first_line(&before.error_message);
            if normalise_error(earlier) != normalise_error(first_line(&case.error_message)) {
                attributes::add(&mut case.attributes, "earlier_error", earlier);
            }
            attempts::set_attributes(&mut case, *count);
            *before = case;
            continue;
        }
        if passed_before.contains(&name_hash(&case.id)) {
            let total = known.launch.totals.entry("passed".to_owned()).or_default();
            *total = total.saturating_sub(1);
        } else {
            *known.launch.totals.entry("total".to_owned()).or_default() += 1;
        }
        failed += 1;
        known.launch.cases.push(case);
    }
    let total = known.launch.totals.entry("failed".to_owned()).or_default();
    *total = total.saturating_add_signed(failed);
    known.passed.extend(later.passed);
    known.launch.started_at = [known.launch.started_at, later.launch.started_at].into_iter().flatten().min();
    known.launch.ended_at = [known.launch.ended_at, later.launch.ended_at].into_iter().flatten().max();
    known.launch.notes.extend(later.launch.notes);
    flaky
}

fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    &line[..super::cut::floor(line, 400)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::{Case, Launch};

    #[test]
    fn attempts_are_recognised_by_their_names() {
        let table = [
            ("a/junit.xml", "a/junit.xml", 0),
            ("a/junit-rerun-1.xml", "a/junit.xml", 1),
            ("a/junit_retry.xml", "a/junit.xml", 1),
            ("junit.attempt2.xml", "junit.xml", 2),
            ("attempt-2/junit.xml", "/junit.xml", 2),
            ("attempt-1/junit.xml", "/junit.xml", 1),
            ("r/attempt-3/junit.xml", "r//junit.xml", 3),
            ("x/test_attempts/attempt_2.xml", "x/test.xml", 2),
            ("x/test.xml", "x/test.xml", u64::MAX),
            ("TEST-com.RetryTest.xml", "TEST-com.RetryTest.xml", 0),
            ("linux/junit.xml", "linux/junit.xml", 0),
        ];
        for (name, base, number) in table {
            let (found, count) = attempt(name);
            assert_eq!(count, number, "{name}");
            if number == 0 || base == name {
                assert_eq!(found, base);
            }
        }
        for (one, two) in [
            ("a/junit.xml", "a/junit-rerun-1.xml"),
            ("a/junit.xml", "a/junit_retry.xml"),
            ("junit.xml", "junit.attempt2.xml"),
            ("attempt-1/junit.xml", "attempt-2/junit.xml"),
            ("r/attempt-3/j.xml", "r/attempt-4/j.xml"),
            ("x/test.xml", "x/test_attempts/attempt_2.xml"),
        ] {
            assert_eq!(attempt(one).0, attempt(two).0, "{one} {two}");
        }
    }

    fn part(name: &str, failed: &[(&str, &str)], passed: &[&str]) -> InputPart {
        let case =
            |(id, error): &(&str, &str)| Case { id: (*id).to_owned(), error_message: (*error).to_owned(), ..Case::default() };
        let totals = [("failed", failed.len()), ("passed", passed.len()), ("total", failed.len() + passed.len())];
        let launch = Launch {
            run_id: name.to_owned(),
            cases: failed.iter().map(case).collect(),
            totals: totals.map(|(outcome, count)| (outcome.to_owned(), count as u64)).into(),
            ..Launch::default()
        };
        InputPart {
            name: name.to_owned(),
            launch,
            passed: passed.iter().map(|name| name_hash(name)).collect(),
            ..InputPart::default()
        }
    }

    #[test]
    fn a_test_that_passed_later_is_not_a_case() {
        let parts = vec![
            part("j.xml", &[("flaky", "x"), ("bad", "first"), ("once", "z")], &["good"]),
            part("j-retry-2.xml", &[("bad", "third")], &[]),
            part("j-retry-1.xml", &[("bad", "second")], &["flaky"]),
            part("other.xml", &[("flaky", "there")], &[]),
        ];
        let folded = fold(parts);
        let [run, other] = &folded[..] else { panic!("two runs: {}", folded.len()) };
        let cases: Vec<(&str, &str, &str)> = run
            .launch
            .cases
            .iter()
            .map(|case| (case.id.as_str(), case.error_message.as_str(), &case.attributes["attempts"]))
            .collect();
        assert_eq!(cases, [("bad", "third", "3"), ("once", "z", "")]);
        assert_eq!(&run.launch.cases[0].attributes["earlier_error"], "second");
        let totals = ["total", "passed", "failed", "flaky"].map(|outcome| run.launch.totals[outcome]);
        assert_eq!(totals, [4, 2, 2, 1]);
        assert_eq!(run.launch.notes, ["3 attempts merged into one run", "passed in a later attempt: `flaky`"]);
        assert_eq!(other.launch.cases.len(), 1);
    }
}
