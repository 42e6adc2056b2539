//! Reports that other readers got wrong.

use super::super::{LaunchMerger, decode, read};
use super::{ids, root, text, totals};
use asterisk_base::model::Launch;

/// A report of the shared data, read from its bytes.
fn bug(name: &str) -> Option<Launch> {
    let dirs = ["../shared/data/bugs", "../../shared/data/bugs"];
    let Some(path) = dirs.iter().map(|dir| root().join(dir).join(name)).find(|path| path.exists()) else {
        eprintln!("SKIPPED: {name} is not in the shared data next to the repository");
        return None;
    };
    let mut merger = LaunchMerger::default();
    merger.add(&decode(name, std::fs::read(path).unwrap()).unwrap()).unwrap_or_else(|found| panic!("{name}: {found}"));
    Some(merger.finish())
}

#[test]
fn counts_are_those_that_were_expected() {
    // The name, the number of all tests, and of those that failed.
    for (name, total, failed) in [
        ("01-nested-testsuites/junit.xml", 4, 3),
        ("04-cdata-end-in-message/junit.xml", 2, 1),
        ("05-control-characters/testng-results.xml", 2, 1),
        ("05-control-characters/junit.xml", 2, 1),
        ("10-flaky-failure-is-not-a-failure/surefire.xml", 3, 1),
        ("11-several-failures-in-one-case/junit.xml", 3, 2),
        ("20-encoding-that-lies-and-bom/bom.xml", 1, 1),
        ("20-encoding-that-lies-and-bom/utf16-says-utf16.xml", 1, 1),
        ("20-encoding-that-lies-and-bom/says-utf16-is-utf8.xml", 1, 1),
        ("20-encoding-that-lies-and-bom/says-utf8-is-latin1.xml", 1, 1),
    ] {
        let Some(launch) = bug(name) else { return };
        assert_eq!(totals(&launch)[..3], [total, total - failed, failed], "{name}: {:?}", ids(&launch));
    }
}

#[test]
fn a_document_type_is_skipped_and_nothing_that_it_names_is_read() {
    for document_type in [
        "<!DOCTYPE testsuites SYSTEM \"http://127.0.0.1:9/junit.dtd\">",
        "<!DOCTYPE s PUBLIC \"-//x\" \"junit.dtd\" [<!ELEMENT s ANY> %more;]>",
    ] {
        let xml = format!(
            "<?xml version='1.0'?>\n{document_type}\n<j:testsuite xmlns:j='j'><j:testcase name='t'><j:failure/></j:testcase></j:testsuite>"
        );
        assert_eq!(ids(&read(&text(&xml)).unwrap()), ["t"], "{document_type}");
    }
    let launch = read(&text("<!DOCTYPE testng-results SYSTEM 'x.dtd'><testng-results/>")).unwrap();
    assert_eq!(&launch.attributes["report_format"], "TestNG");
}

#[test]
fn counts_beyond_what_is_listed_are_gaps_and_leave_the_outcome_open() {
    for (xml, gap) in [
        ("<testsuite tests='2' failures='0'><testcase name='a'/></testsuite>", "the file counts 2 tests, but has 1"),
        (
            "<testsuites><testsuite name='s' failures='1'><testcase name='a'/></testsuite></testsuites>",
            "the file counts 1 failures, but has 0",
        ),
    ] {
        let launch = read(&text(xml)).unwrap();
        assert_eq!((&launch.gaps[..], launch.status.as_deref()), (&[gap.to_owned()][..], None), "{xml}");
    }
}

#[test]
fn utf_16_is_read_whatever_the_declaration_says() {
    let xml = "<?xml version='1.0' encoding='utf-8'?><testsuite><testcase name='grün'><failure/></testcase></testsuite>";
    let tap = "1..1\nnot ok 1 - grün\n";
    for (report, name) in [(xml, "grün"), (tap, "grün")] {
        for (mark, little) in [(true, true), (true, false), (false, true), (false, false)] {
            let units = report.encode_utf16();
            let units = mark.then_some(0xfeff).into_iter().chain(units);
            let bytes: Vec<u8> = units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect();
            let launch = read(&decode("x", bytes).unwrap()).unwrap();
            assert_eq!(ids(&launch), [name], "{report} {mark} {little}");
        }
    }
}

#[test]
fn a_script_that_died_is_a_case() {
    let printed = "no route to host\n# Looks like your test exited with 111 just after 1.\n";
    for (tap, cases, error) in [
        (format!("1..2\nok 1 - loads\n{printed}"), vec!["x"], "no route to host\nthe plan has 2 tests, but 1 ran\n# Looks like"),
        (format!("ok 1 - loads\n{printed}"), vec!["x"], "no route to host\n# Looks like"),
        ("1..1\nnot ok 1 - a\n# Looks like you failed 1 test of 1.\n".to_owned(), vec!["a"], ""),
        ("Bail out!  TEXT_HOME is not set\n".to_owned(), vec!["Bail out!"], "Bail out! TEXT_HOME"),
        (
            "Can't locate X.pm in @INC\nBEGIN failed--compilation aborted at t/x.t line 2.\n".to_owned(),
            vec!["t/x.t"],
            "Can't locate",
        ),
        ("t/a.t ..\n1..2\nok 1\nDubious, test returned 1\nt/b.t ..\n1..1\nok 1\n".to_owned(), vec!["t/a.t"], "the plan has 2"),
        ("t/a.t ..\n1..1\nnot ok 1 - a\nDubious, test returned 1 (wstat 256, 0x100)\n".to_owned(), vec!["t/a.t::a"], ""),
    ] {
        let launch = read(&text(&tap)).unwrap();
        assert_eq!(ids(&launch), cases, "{tap}");
        assert!(launch.cases[0].error_message.starts_with(error), "{tap}: {}", launch.cases[0].error_message);
    }
}

#[test]
fn a_package_that_did_not_build_is_a_case_without_an_event_of_it() {
    let launch = read(&text(
        "# shop/cart [shop/cart.test]\ncart/cart_test.go:11:4: undefined: total\n{\"Action\":\"pass\",\"Package\":\"shop/stock\"}\nFAIL\tshop/cart [build failed]\n",
    ))
    .unwrap();
    assert_eq!(ids(&launch), ["shop/cart::build"]);
    assert_eq!(launch.cases[0].error_message, "cart/cart_test.go:11:4: undefined: total\nFAIL\tshop/cart [build failed]");
    assert!(launch.gaps.is_empty(), "{:?}", launch.gaps);
}

#[test]
fn json_reports_are_never_green_if_the_run_failed() {
    for (report, cases, gap) in [
        (
            r#"{"config": {}, "suites": [], "errors": [{"message": "Cannot find module", "location": {"file": "a/b.spec.js", "line": 2}}]}"#,
            vec!["b.spec.js"],
            "",
        ),
        (
            r#"{"config": {}, "suites": [{"title": "a.spec.js", "specs": [{"title": "t", "tests": [{"status": "skipped", "results": [{"status": "interrupted"}]}]}]}]}"#,
            vec!["t"],
            "",
        ),
        (
            r#"{"numTotalTests": 0, "success": false, "testResults": []}"#,
            vec![],
            "the file says that the run failed, but has no failure",
        ),
        (r#"{"numFailedTests": 2, "testResults": []}"#, vec![], "the file counts 2 failures, but has 0"),
        (r#"{"exitcode": 3, "tests": [], "summary": {}}"#, vec![], "the file says that the run failed, but has no failure"),
        (r#"{"tests": 2, "disabled": 0, "testsuites": []}"#, vec![], "the file counts 2 tests, but has 0"),
        (r#"{"stats": {"passes": 1, "failures": 0}, "tests": [{"title": "a"}, 7]}"#, vec![], "x: test `` has no outcome"),
        (
            r#"{"collection": {"info": {}}, "run": {"executions": [{"assertions": [7, {"assertion": "a", "error": "x"}]}]}}"#,
            vec!["a"],
            "x: test `` has no outcome",
        ),
        (
            r#"[{"keyword": "Feature", "elements": [{"name": "a", "steps": [{"result": []}]}]}]"#,
            vec![],
            "x: test `a` has no outcome",
        ),
        (
            r#"{"results": {"tool": {}, "summary": {}, "tests": [{"name": "a", "status": []}]}}"#,
            vec![],
            "x: test `a` has no outcome",
        ),
        (r#"{"testNodes": [{"nodeType": "Test Case", "name": "a"}], "devices": []}"#, vec![], "x: test `a` has no outcome"),
    ] {
        let launch = read(&text(report)).unwrap_or_else(|found| panic!("{report}: {found}"));
        assert_eq!(ids(&launch), cases, "{report}");
        assert!(gap.is_empty() || launch.gaps.iter().any(|found| found == gap), "{report}: {:?}", launch.gaps);
        assert!(gap.is_empty() || launch.status.as_deref() != Some("PASSED"), "{report}: {:?}", launch.status);
    }
}

#[test]
fn a_result_in_a_report_of_allure_3_is_read() {
    let result = r#"{"id": "1", "name": "total", "fullName": "cart.total", "status": "failed", "error": {"message": "3 is not 4", "trace": "at cart.js:7"},
        "historyId": "h", "start": 1772416800000, "stop": 1772416800500, "labels": [{"name": "suite", "value": "cart"}], "groupedLabels": {"suite": ["cart"]},
        "titlePath": [], "steps": [], "isRetry": false}"#;
    let launch = read(&text(result)).unwrap();
    assert_eq!((ids(&launch), launch.cases[0].error_message.as_str()), (vec!["cart::total"], "3 is not 4\nat cart.js:7"));
}

#[test]
fn a_suite_that_failed_without_a_test_is_a_case() {
    let Some(launch) = bug("13-suite-failed-without-a-case/phpunit.xml") else { return };
    assert_eq!((ids(&launch), launch.status.as_deref()), (vec!["OrderTest"], Some("FAILED")));
    assert!(launch.gaps.is_empty(), "{:?}", launch.gaps);
}
