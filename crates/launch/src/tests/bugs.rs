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
fn a_suite_that_failed_without_a_test_is_a_case() {
    let Some(launch) = bug("13-suite-failed-without-a-case/phpunit.xml") else { return };
    assert_eq!((ids(&launch), launch.status.as_deref()), (vec!["OrderTest"], Some("FAILED")));
    assert!(launch.gaps.is_empty(), "{:?}", launch.gaps);
}
