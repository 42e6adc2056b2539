//! Each format: complete, truncated and damaged.

use super::super::{LaunchMerger, read};
use super::{fixture, ids, read_all, root, text};
use asterisk_base::model::Launch;
use asterisk_diag::Source;
use std::fmt::Write;

/// The fixtures of formats other than JUnit and ReportPortal, one file each.
pub(super) const FILES: [&str; 39] = [
    "mstest.trx",
    "nunit2.xml",
    "nunit3.xml",
    "xunit2.xml",
    "xunit3.xml",
    "testng.xml",
    "robot6.xml",
    "robot7.xml",
    "go-test.jsonl",
    "go-test-1.21.jsonl",
    "libtest.jsonl",
    "nextest.jsonl",
    "cargo-build.jsonl",
    "node.tap",
    "prove.tap",
    "bats.tap",
    "jest.json",
    "vitest.json",
    "playwright.json",
    "mocha.json",
    "mochawesome.json",
    "googletest.json",
    "pytest-report.json",
    "pytest-reportlog.jsonl",
    "ctest-test.xml",
    "ctest-build.xml",
    "catch2.xml",
    "cucumber.json",
    "cucumber.ndjson",
    "rspec.json",
    "playwright-blob.jsonl",
    "bazel-events.jsonl",
    "xcresult-tests.json",
    "ctrf.json",
    "k6-summary.json",
    "k6-handle-summary.json",
    "newman.json",
    "testcafe.json",
    "karate.json",
];

/// The files of a directory of Allure results, by name.
fn allure() -> Vec<Source> {
    let dir = root().join("tests/fixtures/launches/allure-results");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &std::path::Path| format!("allure-results/{}", path.file_name().unwrap().to_str().unwrap());
    paths.iter().map(|path| Source::new(name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// A launch as text for a snapshot.
fn shown(launch: &Launch) -> String {
    let mut out = format!("{} {}\n", launch.name, launch.status.as_deref().unwrap_or("?"));
    let time = |time: Option<asterisk_base::clock::Timestamp>| time.map_or("?".to_owned(), |time| time.to_string());
    writeln!(out, "{} to {}", time(launch.started_at), time(launch.ended_at)).unwrap();
    let totals: Vec<String> = launch.totals.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    writeln!(out, "{}", totals.join(", ")).unwrap();
    for (name, value) in launch.attributes.iter() {
        writeln!(out, "  {name}: {value}").unwrap();
    }
    for case in &launch.cases {
        let file = case.file.as_deref().unwrap_or("-");
        let took = case.duration_s.map_or("?".to_owned(), |took| took.to_string());
        writeln!(
            out,
            "\n{} {}\n  {} in {} ({file}), {} for {took} s",
            case.status,
            case.id,
            case.name,
            case.suite,
            time(case.started_at)
        )
        .unwrap();
        for (name, value) in case.attributes.iter() {
            writeln!(out, "  {name}: {value}").unwrap();
        }
        for (what, text) in [("error", case.error_message.as_str()), ("log", &case.log_snippet.text_or_error())] {
            for line in text.lines() {
                writeln!(out, "  {what}| {line}").unwrap();
            }
        }
    }
    for note in &launch.notes {
        writeln!(out, "\n{} {note}", if launch.gaps.contains(note) { "gap:" } else { "note:" }).unwrap();
    }
    out
}

#[test]
fn every_format_is_read_with_all_its_data() {
    for name in FILES {
        let launch = read(&fixture(name)).unwrap_or_else(|found| panic!("{name}: {found}"));
        insta::assert_snapshot!(name.replace('.', "_"), shown(&launch));
    }
    let mut launch = read_all(&allure());
    assert_eq!(launch.run_id.len(), 12);
    launch.run_id.clear();
    insta::assert_snapshot!("allure", shown(&launch));
}

#[test]
fn allure_results_may_be_in_any_order_and_a_broken_one_is_noted() {
    let mut files = allure();
    let whole = read_all(&files);
    files.reverse();
    assert_eq!(read_all(&files), whole);
    files.push(Source::new("allure-results/9-result.json", "{\"uuid\": \"9\", \"historyId\": \"h\", \"name\": \"cut"));
    let launch = read_all(&files);
    assert_eq!(ids(&launch), ids(&whole));
    assert_eq!(launch.gaps.len(), 1);
    assert!(launch.gaps[0].starts_with("allure-results/9-result.json:1: the result could not be read: "), "{:?}", launch.gaps);
    let elsewhere = files.iter().map(|file| Source::new(file.name().replace("allure-results/", "shard-2/"), file.text()));
    let mut both = LaunchMerger::default();
    for file in files.clone().into_iter().chain(elsewhere) {
        both.add(&file).unwrap();
    }
    assert_eq!(both.len(), 2);
}

#[test]
fn a_truncated_file_loses_only_what_follows() {
    for name in FILES.into_iter().chain(["pytest-reruns.xml", "surefire.xml", "playwright.xml"]) {
        let whole = fixture(name).text().trim_end().to_owned();
        let names: Vec<String> = read(&fixture(name)).unwrap().cases.into_iter().map(|case| case.name).collect();
        // Tests that pass when retried, and those whose subtests or definition come later, differ before a cut.
        let open = [
            "testng",
            "nextest",
            "go-test",
            "bats",
            "prove",
            "node",
            "surefire",
            "playwright",
            "pytest",
            "libtest",
            "cucumber.ndjson",
            "bazel-events",
        ];
        let is_open = open.iter().any(|open| name.starts_with(open));
        let mut most = 0;
        for at in (0..whole.len()).step_by((whole.len() / 300).max(11)) {
            let Some(part) = whole.get(..at) else { continue };
            let Ok(launch) = read(&text(part)) else { continue };
            most = most.max(launch.cases.len());
            let is_xml = whole.starts_with('<');
            // A plan gives the number of tests; Node.js writes it last.
            let is_planned = part.lines().any(|line| line.starts_with("1..") && line.len() > 3);
            let has_points = part.lines().any(|line| line.starts_with("ok ") || line.starts_with("not ok "));
            let is_tap = name.ends_with(".tap") && !is_planned && has_points;
            assert!(!(is_xml || is_tap) || !launch.gaps.is_empty(), "{name} cut at {at} is noted");
            if !is_open && !name.ends_with("trx") {
                assert!(launch.cases.iter().all(|case| names.contains(&case.name)), "{name} cut at {at}: {:?}", ids(&launch));
                assert!(launch.cases.len() + 1 >= most, "{name} cut at {at}: {:?}", ids(&launch));
            }
        }
        assert!(most + 1 >= names.len(), "{name}: {most} of {}", names.len());
    }
}

/// Damaged JUnit: the text, the cases, the notes.
const DAMAGED: [(&str, &[&str], &[&str]); 8] = [
    (
        "<testsuite name='s'>\n<testcase name='a'><failure message='m'>1 &lt; 2 &bomb; 3</failure></testcase>\n<testcase name='b'><failure/></testcase></testsuite>",
        &["s::a", "s::b"],
        &["x:2: test `a` is read in part: this is not valid XML: the unknown entity `&bomb;`"],
    ),
    (
        "<testsuite name='s'>\n<testcase name='a'><failure>half\n<testcase name='b'><failure/></testcase>\n</testsuite>",
        &["s::a", "s::b"],
        &["x:2: test `a` is read in part: this is not valid XML: `</testsuite>` where `</failure>` should be"],
    ),
    (
        "<testsuite name='s'>\n<testcase name='a'><system-out><![CDATA[half\n<testcase name='b'><failure/></testcase>\n</testsuite>",
        &["s::b"],
        &["x:2: test `a` could not be read: the XML ends too soon: CDATA not closed: `]]>` not found before end of input"],
    ),
    (
        "<testsuite name='s'>\n\n<testcase name=a/>\n<testcase name='b'><failure/></testcase></testsuite>",
        &["s::b"],
        &["x:3: this is not valid XML: an attribute without quotes"],
    ),
    (
        "<testsuites><testsuite name='s'>\n<testcase name='a'><failure/></testcase></testsuites>",
        &["s::a"],
        &["x:1: `<testsuite>` is never closed"],
    ),
    (
        "<testsuites><testsuite name='s'><testcase name='a'><failure/></testcase>\n<properties><property name='x' value='&y;'/></properties></testsuite><testsuite name='t'><testcase name='b'><failure/></testcase></testsuite></testsuites>",
        &["s::a", "t::b"],
        &["x:2: `<properties>` could not be read: this is not valid XML: the unknown entity `&y;`"],
    ),
    (
        "<testsuite name='s'><testcase name='a'><failure/></testcase>\n<testcase name='b'><failure>text</testcase></testsuite>",
        &["s::a", "s::b"],
        &["x:2: test `b` is read in part: this is not valid XML: `</testcase>` where `</failure>` should be"],
    ),
    (
        "<testsuite name='s'><testcase name='a'><failure/></testcase>\n<testcase><failure/></testcase></testsuite>",
        &["s::a", "s::(unnamed)"],
        &["1 failed test has neither `name` nor `classname` (at line 2): it is called `(unnamed)`"],
    ),
];

#[test]
fn a_damaged_test_is_noted() {
    for (input, cases, notes) in DAMAGED {
        let launch = read(&text(input)).unwrap_or_else(|found| panic!("{input}: {found}"));
        assert_eq!(ids(&launch), cases, "{input}");
        assert_eq!(launch.notes, notes, "{input}");
    }
    let launch = read(&text(
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"fail\",\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n",
    ))
    .unwrap();
    assert_eq!(ids(&launch), ["p::A"]);
    assert!(launch.gaps[0].starts_with("x:2: the event could not be read: "), "{:?}", launch.gaps);
}

#[test]
fn formats_are_distinguished_from_lookalikes() {
    for (input, message) in [
        (
            "<assembly xmlns='http://maven.apache.org/ASSEMBLY/2.0.0'><id>bin</id></assembly>",
            "XML with the root element `assembly`",
        ),
        ("ok  \tlarder.test/stock\t0.1s\n", "plain text"),
        ("{\"reason\":\"build-finished\",\"success\":true}\n", "messages of a successful cargo build"),
        ("[{\"name\": \"Product\", \"matchedStatuses\": [\"failed\"]}]", "a list of Allure's categories"),
    ] {
        let found = read(&text(input)).unwrap_err();
        assert!(found.to_string().contains(message), "{input}: {found}");
    }
    let name = |input: &str| read(&text(input)).unwrap().attributes.get("report_format").map(ToString::to_string);
    for (input, format) in [
        ("go: downloading larder.test/x v1.0.0\n{\"Action\":\"pass\",\"Package\":\"p\"}\n", "go test -json"),
        ("# a log\n1..1\nok 1\n", "TAP"),
        ("<?xml version=\"1.0\"?><!-- c -->\n<test-run total='0'/>", "NUnit 3"),
    ] {
        assert_eq!(name(input).as_deref(), Some(format), "{input}");
    }
}
