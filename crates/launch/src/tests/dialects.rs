//! The reports of each tool.

use super::super::{LaunchMerger, read};
use super::{attribute, case, fixture, ids, read_all, text};
use asterisk_base::model::Launch;
use asterisk_diag::Source;

pub(super) fn totals(launch: &Launch) -> [u64; 5] {
    ["total", "passed", "failed", "skipped", "flaky"].map(|outcome| launch.totals.get(outcome).copied().unwrap_or(0))
}

/// The notes of a build are those of its launch, and no launch of their own.
#[test]
fn ctest_notes() {
    let mut merger = LaunchMerger::default();
    merger.add(&fixture("ctest-notes.xml")).unwrap();
    assert!(merger.is_empty());
    merger.add(&fixture("ctest-test.xml")).unwrap();
    let (launch, alone) = (merger.finish(), read(&fixture("ctest-test.xml")).unwrap());
    assert_eq!(launch.cases, alone.cases);
    assert!(launch.notes.contains(&"`notes.txt` says: the compiler is GCC 12.3 & ASan".to_owned()), "{:?}", launch.notes);
}

#[test]
fn ctest() {
    let launch = read(&fixture("ctest.xml")).unwrap();
    assert_eq!(ids(&launch), ["ledger_overflow", "ledger_soak", "ledger_bench"]);
    assert_eq!(totals(&launch), [6, 1, 3, 2, 0]);
    let overflow = &launch.cases[0];
    assert_eq!((overflow.error_message.as_str(), attribute(overflow, "cmake_labels")), ("Failed", "ledger;nightly"));
    assert_eq!(overflow.log_snippet.text_or_error(), "ledger.cpp:88: sum overflows: 9223372036854775807 + 1");
    let bench = &launch.cases[2];
    assert_eq!((bench.status.as_str(), bench.error_message.as_str()), ("ERROR", "Unable to find executable"));
}

#[test]
fn gotestsum() {
    let launch = read(&fixture("gotestsum.xml")).unwrap();
    assert_eq!(ids(&launch), ["larder.test/ledger::TestPost/negative_amount", "larder.test/stock::TestMain"]);
    assert_eq!(totals(&launch), [5, 2, 2, 1, 1]);
    let post = &launch.cases[0];
    assert_eq!((attribute(post, "attempts"), attribute(post, "retries")), ("2", "1"));
    assert!(post.error_message.contains("post_test.go:41: want ErrNegative, got nil"));
    assert_eq!(post.log_snippet.text_or_error(), "", "the second attempt said the same");
    assert_eq!(
        launch.notes,
        [
            "1 test that failed because subtests did left out",
            "1 flaky test passed when tried again: `larder.test/ledger::TestWatch`"
        ]
    );
}

#[test]
fn repeated_failures_are_numbered_in_order() {
    let read_attempts = |errors: &[&str]| {
        let test = |error: &&str| format!("<testcase classname='c' name='t'><failure message='{error}'/></testcase>");
        let tests: String = errors.iter().map(test).collect();
        read(&text(&format!("<testsuite name='pytest'>{}</testsuite>", tests.replace("<failure message=''/>", "")))).unwrap()
    };
    for (errors, attempts, lines) in [
        (&["refused", "refused", "no such host"][..], "3", &["attempt 3 failed otherwise: no such host"][..]),
        (
            &["refused", "no such host", "timed out", "refused"],
            "4",
            &["attempt 3 failed otherwise: timed out", "attempt 2 failed otherwise: no such host"],
        ),
        (&["", "refused", "no such host"], "3", &["attempt 3 failed otherwise: no such host"]),
    ] {
        let launch = read_attempts(errors);
        let [case] = &launch.cases[..] else { panic!("one case of {errors:?}") };
        let log = case.log_snippet.text_or_error().to_string();
        assert_eq!(log.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), lines);
        assert_eq!(attribute(case, "attempts"), attempts);
    }
}

#[test]
fn jest() {
    let launch = read(&fixture("jest.xml")).unwrap();
    assert_eq!(ids(&launch), ["basket totals rounds half up", "basket totals same title"]);
    assert_eq!(totals(&launch), [5, 2, 2, 1, 0], "two tests of one title are two tests");
    assert!(launch.cases[0].error_message.contains("Expected: 10.13\nReceived: 10.12"));
}

#[test]
fn playwright() {
    let launch = read(&fixture("playwright.xml")).unwrap();
    let id = |name: &str| format!("checkout.spec.ts::checkout › {name}");
    assert_eq!(ids(&launch), [id("pays by card"), id("sends a receipt"), id("is fast")]);
    assert_eq!(launch.notes, [format!("1 flaky test passed when tried again: `{}`", id("shows the total"))]);
    let pays = &launch.cases[0];
    assert!(pays.error_message.ends_with("Received: 402"), "later attempts are not its error: {}", pays.error_message);
    assert_eq!(attribute(pays, "attempts"), "3");
    assert_eq!(
        pays.log_snippet.text_or_error().lines().take(2).collect::<Vec<_>>(),
        [
            "attempt 2 failed otherwise: Error: page.goto: net::ERR_CONNECTION_REFUSED at http://shop.test/",
            "    at checkout.spec.ts:12:14"
        ]
    );
    assert!(pays.log_snippet.text_or_error().contains("\ntry 0\n"));
    assert_eq!(attribute(&launch.cases[1], "attempts"), "2");
    assert_eq!((attribute(&launch.cases[2], "attempts"), launch.cases[2].status.as_str()), ("", "ERROR"));
}

#[test]
fn pytest_with_reruns() {
    let launch = read(&fixture("pytest-reruns.xml")).unwrap();
    let names: Vec<&str> = launch.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["test_keeps_order", "test_closes", "test_strict", "test_only_teardown"]);
    assert_eq!(totals(&launch), [6, 1, 4, 1, 1]);
    assert_eq!(attribute(&launch.cases[0], "retries"), "1");
    let closes = &launch.cases[1];
    assert!(closes.error_message.contains("still open") && closes.error_message.contains("the feed is gone"));
    assert_eq!(attribute(closes, "attempts"), "", "a teardown is not an attempt");
    assert_eq!(launch.notes, ["1 flaky test passed when tried again: `tests.test_feed::test_catches_up`"]);
}

#[test]
fn googletest() {
    let launch = read(&fixture("googletest.xml")).unwrap();
    assert_eq!(ids(&launch), ["LedgerTest::Sums", "Sizes/StockTest::Fits/2"]);
    assert_eq!((totals(&launch), launch.name.as_str()), ([4, 0, 2, 2, 0], "AllTests"));
    let sums = &launch.cases[0];
    assert!(sums.error_message.contains("Which is: 3") && sums.error_message.contains("Actual: false"));
    assert_eq!((sums.file.as_deref(), attribute(sums, "line"), attribute(sums, "rows")), (Some("ledger_test.cc"), "12", "3"));
    assert_eq!(attribute(&launch.cases[1], "value_param"), "4096");
}

#[test]
fn phpunit() {
    let launch = read(&fixture("phpunit.xml")).unwrap();
    assert_eq!(ids(&launch), ["Larder.Tests.PriceTest::testRounding with data set \"half\"", "Larder.Tests.PriceTest::testTax"]);
    assert_eq!(totals(&launch), [4, 1, 2, 1, 0]);
    assert_eq!(launch.notes, [""; 0]);
    assert_eq!(attribute(&launch.cases[0], "failure_type"), "PHPUnit\\Framework\\ExpectationFailedException");
}

#[test]
fn bazel_and_its_attempts() {
    let report = fixture("bazel.xml").text().to_owned();
    let named = |name: &str, text: &str| Source::new(name, text);
    let launch = read(&named("bazel-testlogs/ledger/test.xml", &report)).unwrap();
    let test = case(&launch, "ledger/ledger_test");
    assert_eq!((test.status.as_str(), test.error_message.as_str()), ("ERROR", "exited with error code 134"));
    assert_eq!(test.duration_s, Some(61.0));
    assert!(test.log_snippet.text_or_error().ends_with("Assertion `rows > 0' failed."), "{}", test.log_snippet.text_or_error());
    let passed = report.replace("<error message=\"exited with error code 134\"></error>", "");
    let attempts =
        [named("bazel-testlogs/ledger/test.xml", &passed), named("bazel-testlogs/ledger/test_attempts/attempt_1.xml", &report)];
    let launch = read_all(&attempts);
    assert_eq!((ids(&launch).len(), totals(&launch)), (0, [1, 1, 0, 0, 1]));
    assert!(launch.notes.contains(&"passed in a later attempt: `ledger/ledger_test`".to_owned()), "{:?}", launch.notes);
}

#[test]
fn levels_of_reportportal() {
    let launch = read(&fixture("reportportal-levels.json")).unwrap();
    assert_eq!(ids(&launch), ["2", "4", "7"], "the hook, the test of the step, the interrupted one");
    let trip = case(&launch, "4");
    assert_eq!((trip.error_message.as_str(), attribute(trip, "failed_step")), ("no seat left on 7", "pay"));
    assert_eq!((trip.suite.as_str(), trip.source_defect.as_deref()), ("nightly", Some("ab_1xyz")));
    let expected =
        [("attempts", "3"), ("retries", "2"), ("auto_analyzed", "true"), ("issue_comment", "seen before"), ("tickets", "LARD-7")];
    for (name, value) in expected {
        assert_eq!(attribute(trip, name), value, "{name}");
    }
    assert_eq!(attribute(case(&launch, "2"), "item_type"), "BEFORE_CLASS");
    assert_eq!(case(&launch, "7").status, "INTERRUPTED");
    let notes = [
        "1 container item left out",
        "2 steps within a test left out",
        "1 attempt that was tried again left out",
        "1 item that did not fail left out (1 skipped)",
    ];
    assert_eq!(launch.notes, notes);
}

#[test]
fn missing_failures_are_noted() {
    let launch = read(&text(
        "<testsuites failures='3' errors='1'><testsuite name='s'><testcase name='t'><failure/></testcase></testsuite></testsuites>",
    ));
    assert_eq!(launch.unwrap().notes, ["the file counts 4 failures, but has 1"]);
}

#[test]
fn a_suite_may_fail_and_a_test_may_have_only_a_status() {
    let launch = read(&text("<testsuite name='s'><error message='does not compile'/><testcase name='a' status='FAILED'/><testcase name='b' result='skipped'/></testsuite>")).unwrap();
    assert_eq!(ids(&launch), ["s::a", "s"]);
    assert_eq!((launch.cases[1].error_message.as_str(), totals(&launch)), ("does not compile", [3, 0, 2, 1, 0]));
}

#[test]
fn the_same_test_in_two_reports_is_two_cases() {
    let report = |host: &str| {
        format!("<testsuite name='s' hostname='{host}'><testcase name='t'><failure>{host}</failure></testcase></testsuite>")
    };
    let launch = read_all(&[Source::new("linux/j.xml", report("a")), Source::new("mac/j.xml", report("b"))]);
    assert_eq!(ids(&launch), ["s::t", "s::t#2"]);
    assert_eq!(attribute(&launch.cases[1], "report_file"), "mac/j.xml");
    let again = Source::new("linux/j.xml", report("a"));
    assert_eq!(ids(&read_all(&[again.clone(), again])), ["s::t"], "the same report twice is one");
}

#[test]
fn a_page_of_logs_is_joined_with_its_items() {
    let items = text(
        r#"{"content": [{"id": 7, "name": "t", "status": "FAILED", "launchId": 3}], "page": {"number": 1, "totalPages": 1}}"#,
    );
    let logs = Source::new(
        "logs",
        r#"{"content": [
            {"id": 1, "itemId": 7, "level": "INFO", "message": "starting", "time": 1772416800500},
            {"id": 2, "itemId": 7, "level": "ERROR", "message": "<b>no rows</b>", "time": 1772416801000},
            {"id": 3, "itemId": 8, "level": "INFO", "message": "elsewhere", "time": 1772416801000}
        ], "page": {"number": 1, "totalPages": 1}}"#,
    );
    for sources in [[items.clone(), logs.clone()], [logs, items]] {
        let launch = read_all(&sources);
        let [case] = &launch.cases[..] else { panic!("one case") };
        assert_eq!(case.error_message, "no rows");
        assert_eq!(case.log_snippet.text_or_error(), "2026-03-02T02:00:00.5Z INFO starting\n2026-03-02T02:00:01Z ERROR no rows");
        assert_eq!((attribute(case, "log_entries"), launch.run_id.as_str()), ("2", "3"));
        assert_eq!(launch.notes, ["1 log entries of 1 items that are not failed tests left out"]);
    }
}
