//! The outcomes of all tests, by the identity that the case of a failed one has.

use super::super::read;
use super::{fixture, read_all, text};
use asterisk_base::model::{Launch, TestIdentity, TestOutcome};
use asterisk_diag::Source;
use serde_json::json;

const JUNIT: [&str; 11] = [
    "bazel.xml",
    "ctest.xml",
    "googletest.xml",
    "gotestsum.xml",
    "jest.xml",
    "nested.xml",
    "phpunit.xml",
    "playwright.xml",
    "pytest-reruns.xml",
    "surefire.xml",
    "xunit2.xml",
];

fn outcome(launch: &Launch, suite: &str, name: &str) -> Option<TestOutcome> {
    launch.outcomes.get(TestIdentity::new(suite, name))
}

#[test]
fn every_format_records_failures_as_their_cases_are_called_and_passes_too() {
    for name in JUNIT.into_iter().chain(super::formats::FILES) {
        let launch = read(&fixture(name)).unwrap();
        let without: Vec<&str> = launch
            .cases
            .iter()
            .filter(|case| !launch.outcomes.get(case.identity()).is_some_and(TestOutcome::is_failure))
            .map(|case| case.id.as_str())
            .collect();
        // Set-ups, builds and whole runs: nothing is listed when they succeed.
        let fixtures = launch.cases.iter().filter(|case| without.contains(&case.id.as_str()));
        for case in fixtures {
            let is_fixture = case.attributes.contains_key("fixture")
                || ["test run", "Bail out!"].contains(&case.name.as_str())
                || JUNIT.contains(&name);
            assert!(is_fixture, "{name}: {without:?}");
        }
        assert!(without.len() * 2 <= launch.cases.len().max(2), "{name}: {without:?}");
        let total = |outcome: &str| usize::try_from(launch.totals.get(outcome).copied().unwrap_or(0)).unwrap();
        assert_eq!(launch.outcomes.has_passes(), total("passed") > 0, "{name}");
        // Go's tests that failed because of their subtests are not in the total.
        assert!(launch.outcomes.len() <= total("total") || name == "gotestsum.xml", "{name}");
        assert!(
            launch.outcomes.len() * 4 >= (total("total") - without.len()) * 3,
            "{name}: {} of {}",
            launch.outcomes.len(),
            total("total")
        );
    }
}

#[test]
fn attempts_are_one_outcome() {
    let suite = |tests: &str| {
        let tests: String = tests
            .split_whitespace()
            .map(|test| match test.strip_suffix('!') {
                Some(name) => format!("<testcase classname=\"c\" name=\"{name}\"><failure message=\"x\"/></testcase>"),
                None => format!("<testcase classname=\"c\" name=\"{test}\"/>"),
            })
            .collect();
        format!("<testsuites><testsuite name=\"pytest\">{tests}</testsuite></testsuites>")
    };
    let launch = read(&text(&suite("good bad! bad! flaky! flaky"))).unwrap();
    let of = |launch: &Launch, name: &str| outcome(launch, "c", name).unwrap();
    assert_eq!(
        ["good", "bad", "flaky"].map(|name| of(&launch, name)),
        [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Flaky]
    );
    // Attempts in files of their own.
    let files = [("j.xml", "good bad! flaky! new"), ("j-retry-1.xml", "bad! flaky new!")];
    let files = files.map(|(name, tests)| Source::new(name, suite(tests)));
    let launch = read_all(&files);
    assert_eq!(
        ["good", "bad", "flaky", "new"].map(|name| of(&launch, name)),
        [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Flaky, TestOutcome::Failed,]
    );
    // The same test on two platforms: the worse outcome.
    let files = [("linux/j.xml", "same! other"), ("mac/j.xml", "same other!")];
    let launch = read_all(&files.map(|(name, tests)| Source::new(name, suite(tests))));
    assert_eq!(["same", "other"].map(|name| of(&launch, name)), [TestOutcome::Failed; 2]);
}

/// A page of items, each an id, a status and another field.
fn items(page: u64, items: &[(u64, &str, (&str, serde_json::Value))]) -> Source {
    let content: Vec<_> = items
        .iter()
        .map(|(id, status, (field, value))| {
            let mut item = json!({ "id": id, "name": format!("t{id}"), "status": status, "launchId": 7,
                                   "pathNames": { "itemPaths": [{ "name": "shop" }] } });
            item[*field] = value.clone();
            item
        })
        .collect();
    let list = json!({ "content": content, "page": { "number": page, "totalPages": 2 } });
    Source::new(format!("{page}.json"), list.to_string())
}

#[test]
fn items_count_where_passed_ones_are_listed() {
    let none = ("x", json!(0));
    let first = items(1, &[(1, "FAILED", none.clone()), (2, "FAILED", ("retryOf", json!(3)))]);
    assert!(read(&first).unwrap().outcomes.is_empty(), "a list of failures");
    let second = items(
        2,
        &[
            (3, "PASSED", none.clone()),
            (4, "PASSED", ("retries", json!([{ "id": 9 }]))),
            (5, "SKIPPED", none.clone()),
            (6, "IN_PROGRESS", none),
        ],
    );
    let launch = read_all(&[first, second]);
    let found = ["t1", "t2", "t3", "t4", "t5", "t6"].map(|name| outcome(&launch, "shop", name));
    let [failed, passed, flaky, skipped] =
        [TestOutcome::Failed, TestOutcome::Passed, TestOutcome::Flaky, TestOutcome::Skipped].map(Some);
    assert_eq!(found, [failed, None, passed, flaky, skipped, None]);
    assert_eq!(launch.cases[0].identity(), TestIdentity::new("shop", "t1"));
    let together = items(1, &[(2, "FAILED", ("retryOf", json!("3"))), (3, "PASSED", ("x", json!(0)))]);
    assert_eq!(outcome(&read(&together).unwrap(), "shop", "t3"), flaky);
}
