//! Tests of the readers: real launches, the examples, the dialects.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod any_input;
mod bounds;
mod bugs;
mod dialects;
mod formats;
mod job_logs;
mod outcomes;
mod refusals;
mod runners;

use dialects::totals;

use super::*;
use asterisk_base::model::Case;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn load(path: &Path) -> Source {
    Source::new(path.file_name().unwrap().to_str().unwrap(), std::fs::read_to_string(path).unwrap())
}

fn example(name: &str) -> Source {
    load(&root().join("examples/launches").join(name))
}

fn fixture(name: &str) -> Source {
    load(&root().join("tests/fixtures/launches").join(name))
}

/// A file of the data shared next to the repository.
fn shared(name: &str) -> Option<Source> {
    let found = ["../shared/data", "../../shared/data"].iter().map(|dir| root().join(dir).join(name)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {name} is not in the shared data next to the repository");
    }
    found.as_deref().map(load)
}

fn text(text: &str) -> Source {
    Source::new("x", text)
}

fn case<'a>(launch: &'a Launch, id: &str) -> &'a Case {
    launch.cases.iter().find(|case| case.id == id).unwrap_or_else(|| panic!("no case {id}"))
}

fn ids(launch: &Launch) -> Vec<&str> {
    launch.cases.iter().map(|case| case.id.as_str()).collect()
}

fn attribute<'a>(case: &'a Case, name: &str) -> &'a str {
    &case.attributes[name]
}

/// Reads several sources as one launch.
fn read_all(sources: &[Source]) -> Launch {
    let mut gather = LaunchMerger::default();
    for source in sources {
        gather.add(source).unwrap();
    }
    gather.finish()
}

const REAL_CASES: [&str; 8] = ["1697244", "1697248", "1697252", "1697254", "1697256", "1697258", "1697267", "1697285"];

#[test]
fn a_real_envelope_is_read() {
    let Some(source) = shared("envelope_33195_4.21.json") else { return };
    let launch = read(&source).unwrap();
    assert_eq!((launch.run_id.as_str(), launch.name.as_str(), launch.number), ("33195", "telco-ft-ran-ptp-4.21", Some(13)));
    assert_eq!(launch.status.as_deref(), Some("FAILED"));
    assert_eq!(launch.started_at.unwrap().to_string(), "2026-02-14T21:21:09Z");
    assert_eq!(launch.ended_at.unwrap().to_string(), "2026-02-15T05:29:12.804Z");
    assert_eq!(["total", "passed", "failed", "skipped"].map(|outcome| launch.totals[outcome]), [172, 85, 8, 79]);
    assert_eq!(&launch.attributes["ptp_operator"], "4.21.0-202602070620");
    assert_eq!(launch.git, asterisk_base::model::LaunchCheckout::default());
    assert_eq!(ids(&launch), REAL_CASES);
    let first = &launch.cases[0];
    assert_eq!(first.suite, "[T-TSC] RAN PTP tests");
    assert_eq!((attribute(first, "ci-lane"), attribute(first, "polarion-testcase-id")), ("T-TSC", "OCP-83297"));
    assert_eq!((first.error_message.as_str(), first.log_snippet.text_or_error().as_ref(), first.log_cut), ("", "", None));
    assert_eq!(first.duration_s, Some(557.145));
    let notes = [
        "4 container items left out",
        "container item `[OC2port] RAN PTP tests` (1697146) is FAILED, but no failed test in it is listed",
    ];
    assert_eq!(launch.notes, notes);
}

#[test]
fn a_real_page_of_items_is_read_and_merges_with_its_envelope() {
    let (Some(page), Some(envelope)) = (shared("items_33195_failed.json"), shared("envelope_33195_4.21.json")) else { return };
    let launch = read(&page).unwrap();
    assert_eq!((launch.run_id.as_str(), launch.name.as_str(), launch.number), ("33195", "telco-ft-ran-ptp-4.21", Some(13)));
    assert_eq!(ids(&launch), REAL_CASES);
    assert_eq!(launch.cases[0].source_defect.as_deref(), Some("ti001"));
    let merged = read_all(&[envelope, page]);
    assert_eq!(ids(&merged), REAL_CASES);
    assert_eq!((merged.totals["failed"], merged.cases[0].source_defect.as_deref()), (8, Some("ti001")));
    assert_eq!(merged.notes.len(), 2, "{:?}", merged.notes);
}

#[test]
fn the_example_launch_is_read() {
    let launch = read(&example("checkout-nightly.json")).unwrap();
    assert_eq!((launch.run_id.as_str(), launch.name.as_str()), ("70418", "checkout-nightly"));
    assert_eq!(launch.cases.len(), 16);
    assert_eq!(launch.totals["failed"], 16);
    assert_eq!(launch.git.branch.as_deref(), Some("release/2.7"));
    assert_eq!(launch.notes, ["6 container items left out", "1 log was cut to 16384 bytes (the longest had 19636)"]);
    let about = |words: &str| {
        launch
            .cases
            .iter()
            .filter(|case| format!("{}{}", case.error_message, case.log_snippet.text_or_error()).contains(words))
            .count()
    };
    for (words, cases) in [
        ("services/pricing/src/discount.rs:88", 2),
        ("Connection refused", 3),
        ("OOMKilled", 1),
        ("NameError", 1),
        ("PAYMENTS_PROVIDER_URL is not set", 1),
        ("BeforeAll", 4),
        ("312 s ahead", 1),
        ("attempt 2 of 3 passed", 1),
    ] {
        assert_eq!(about(words), cases, "{words}");
    }
    assert!(
        launch.cases.iter().all(|case| !case.log_snippet.text_or_error().contains(['\u{1b}', '\r']) && !case.suite.is_empty())
    );
    let voucher = case(&launch, "880501");
    assert!(
        voucher.error_message.starts_with("NameError: name 'voucher_code_for' is not defined\n"),
        "{}",
        voucher.error_message
    );
    assert_eq!((attribute(voucher, "ci-lane"), attribute(voucher, "component")), ("browser", "checkout-e2e"));
    assert!(case(&launch, "880304").error_message.ends_with("<Invoice R-2026-000931>.vat"));
    assert_eq!(case(&launch, "880502").error_message, "");
    let noisy = case(&launch, "880402");
    assert!(noisy.log_snippet.text_or_error().len() <= 16 * 1024 && noisy.log_snippet.text_or_error().contains(" left out ...]"));
    assert!(noisy.log_snippet.text_or_error().ends_with("while waiting for state=EXPIRED, last state=ACTIVE"));
}

#[test]
fn nextest_reports_are_read() {
    let launch = read(&example("nextest.xml")).unwrap();
    assert_eq!((launch.run_id.as_str(), launch.name.as_str()), ("c9f148e4-30fd-4ae6-9c1f-e1a869b7b0e2", "nextest-run"));
    assert_eq!(launch.status.as_deref(), Some("FAILED"));
    assert_eq!(["total", "passed", "failed"].map(|outcome| launch.totals[outcome]), [8, 3, 5]);
    assert_eq!(launch.started_at.unwrap().to_string(), "2026-11-22T01:50:07.927Z");
    assert_eq!(launch.ended_at.unwrap().seconds_since(launch.started_at.unwrap()).to_string(), "4.372");
    assert_eq!(
        launch.notes,
        ["1 flaky test passed when tried again: `larder-pricing::rates_api::cached_rates_survive_a_restart`"]
    );
    let tier = case(&launch, "larder-pricing::discount::tests::the_top_tier_applies_to_large_orders");
    assert_eq!((tier.status.as_str(), tier.suite.as_str(), attribute(tier, "retries")), ("FAILED", "larder-pricing", "1"));
    assert_eq!(attribute(tier, "failure_type"), "test failure with exit code 101");
    assert!(tier.error_message.starts_with("thread 'discount::tests::the_top_tier_applies_to_large_orders'"));
    assert!(tier.error_message.contains("\nindex out of bounds: the len is 3 but the index is 3\n"));
    assert!(tier.log_snippet.text_or_error().starts_with("running 1 test"));
    let stream = case(&launch, "larder-pricing::rates_api::rates_stream_ends");
    assert_eq!((stream.error_message.as_str(), stream.duration_s), ("test timeout", Some(2.005)));
    assert_eq!(stream.log_snippet.text_or_error(), "running 1 test\n\nwaiting for the end of the stream");
}

#[test]
fn pytest_reports_are_read() {
    let launch = read(&example("pytest.xml")).unwrap();
    assert_eq!((launch.name.as_str(), &launch.attributes["hostname"]), ("pytest tests", "runner-07"));
    assert_eq!(launch.run_id.len(), 12);
    assert_eq!(["total", "passed", "failed", "skipped"].map(|outcome| launch.totals[outcome]), [11, 3, 6, 2]);
    let schema = case(&launch, "tests.test_events.TestPublish::test_payload_schema");
    assert_eq!((schema.file.as_deref(), attribute(schema, "line")), (Some("tests/test_events.py"), "11"));
    assert!(schema.error_message.starts_with("NameError: name 'make_payload' is not defined\nself = <test_events.TestPublish"));
    let text = schema.log_snippet.text_or_error();
    let log = text.lines().map(|line| line.trim_matches('-')).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    assert_eq!(
        log,
        [
            " Captured Out ",
            "WARN schema registry answers slowly (1.8 s)",
            " Captured Err ",
            "registry: http://schemas.larder.test/v3"
        ]
    );
    let broker = case(&launch, "tests.test_events.TestPublish::test_order_placed_is_published");
    assert_eq!((broker.status.as_str(), broker.log_snippet.text_or_error().as_ref()), ("ERROR", ""));
    assert!(broker.error_message.contains("ConnectionRefusedError: [Errno 111] Connection refused"));
    assert_eq!(attribute(case(&launch, "tests.test_totals::test_vat_is_rounded_half_up"), "ticket"), "LARD-2291");
}

#[test]
fn examples_are_small_enough_to_embed() {
    for name in ["checkout-nightly.json", "nextest.xml", "pytest.xml"] {
        assert!(example(name).text().len() < 60 * 1024, "{name}");
    }
}

#[test]
fn surefire_reports_are_read() {
    let launch = read(&fixture("surefire.xml")).unwrap();
    let class = "test.larder.ledger.BalanceTest";
    assert_eq!(ids(&launch), [format!("{class}::balances"), format!("{class}::closes"), format!("{class}::closes#2")]);
    assert_eq!(launch.attributes, [("java.version", "21.0.4")].into());
    let balances = &launch.cases[0];
    assert!(balances.error_message.starts_with("org.opentest4j.AssertionFailedError: expected: <10> but was: <9>\n\tat test."));
    assert_eq!((attribute(balances, "retries"), balances.log_snippet.text_or_error().as_ref()), ("1", "suite output"));
    assert_eq!(
        (launch.cases[1].error_message.as_str(), launch.cases[1].log_snippet.text_or_error().as_ref()),
        ("java.lang.NullPointerException", "closing")
    );
    assert_eq!(launch.notes, [format!("1 flaky test passed when tried again: `{class}::reopens`")]);
}

#[test]
fn nested_suites_are_read() {
    let launch = read(&fixture("nested.xml")).unwrap();
    assert_eq!(ids(&launch), ["outer > inner::one", "C::two"]);
    let [one, two] = &launch.cases[..] else { panic!("two cases") };
    assert_eq!((one.suite.as_str(), one.file.as_deref()), ("outer > inner", Some("spec/inner_spec.rb")));
    assert_eq!(one.error_message, "boom & bust\n\nteardown");
    assert_eq!((attribute(two, "testsuite"), attribute(two, "line"), attribute(two, "ticket")), ("outer", "7", "LARD-1"));
    assert_eq!(&launch.attributes["hostname"], "a, b");
    assert_eq!((launch.name.as_str(), launch.started_at.unwrap().to_string().as_str()), ("outer", "2026-03-02T02:00:00Z"));
    assert_eq!(launch.ended_at.unwrap().to_string(), "2026-03-02T02:00:06.5Z");
}

#[test]
fn items_with_logs_and_exporters_names_are_read() {
    let launch = read(&fixture("items-with-logs.json")).unwrap();
    assert_eq!(ids(&launch), ["t1", "t2", "t2#2"]);
    let first = &launch.cases[0];
    assert_eq!((first.name.as_str(), first.suite.as_str(), first.duration_s), ("first test", "suite", Some(1.5)));
    assert_eq!(first.error_message, "boom <1>");
    assert_eq!(first.log_snippet.text_or_error(), "2026-03-02T02:00:00.5Z INFO starting\n2026-03-02T02:00:01Z ERROR\nboom <1>");
    assert_eq!(first.source_defect.as_deref(), Some("pb001"));
    let expected = [
        ("ci-lane", "x"),
        ("tag", "smoke"),
        ("description", "verifies that"),
        ("code_ref", "tests/a.py:A.first"),
        ("parameters", "n=1"),
        ("retries", "2"),
        ("issue_comment", "known"),
        ("tickets", "LARD-1, LARD-2"),
    ];
    for (name, value) in expected {
        assert_eq!(attribute(first, name), value, "{name}");
    }
    let second = &launch.cases[1];
    assert_eq!(
        (second.error_message.as_str(), second.log_snippet.text_or_error().as_ref(), second.started_at),
        ("cut short", "one\ntwo", None)
    );
    let notes = [
        "1 container item left out",
        "2 items that did not fail left out (1 passed, 1 skipped)",
        "1 item listed twice left out",
        "2 invalid times were ignored, the first: [2].startTime = \"soon\"",
    ];
    assert_eq!(launch.notes, notes);
}

#[test]
fn a_minimal_launch_is_read() {
    let launch =
        read(&text(r#"{"run_id": 7, "name": "n", "failure_list": [{"id": 1, "name": "t", "status": "FAILED", "zzz": {}}]}"#))
            .unwrap();
    assert_eq!((launch.run_id.as_str(), ids(&launch)), ("7", vec!["1"]));
    assert!(launch.notes.is_empty() && !launch.cases[0].recall_key.is_empty());
    let launch =
        read(&text("\u{feff} {\"run_id\": \"7\", \"name\": \"n\", \"failure_list\": [], \"git\": null, \"number\": null}"))
            .unwrap();
    assert_eq!(launch.notes, ["no failed test in this launch"]);
    let launch = read(&text("<testsuite/>")).unwrap();
    assert_eq!(
        (launch.name.as_str(), launch.status.as_deref(), &launch.notes[..]),
        ("x", None, &["no test is listed: the tests may not have run".to_owned()][..])
    );
}

#[test]
fn missing_pages_and_items_are_noted() {
    let launch =
        read(&text(r#"{"content": [{"id": 1, "name": "t", "status": "FAILED"}], "page": {"number": 1, "totalPages": 3}}"#))
            .unwrap();
    assert_eq!(launch.notes, ["this is page 1 of 3: pass all of them to see every failure"]);
    let launch = read(&text(
        r#"{"run_id": 1, "name": "n", "statistics": {"executions": {"failed": 3}}, "failure_list": [{"id": 1, "name": "t", "status": "FAILED"}]}"#,
    ));
    assert_eq!(launch.unwrap().notes, ["the launch counts 3 failed tests, but its list has 1"]);
}
