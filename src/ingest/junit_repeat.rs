//! A test that occurs more than once in its suite: in some tools' reports the same test tried again, in all others another
//! test of the same name.

use super::junit_case::TestOutcome;
use super::unique::name_hash;
use super::xml::Element;
use crate::model::Case;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is known of a test that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct RepeatEntry {
    /// How it ended so far.
    pub(super) outcome: TestOutcome,
    /// Its number among the launch's cases.
    pub(super) case: Option<usize>,
    /// How often it was seen.
    pub(super) attempts: usize,
}

/// Who wrote a suite, as far as repeated names go by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReportWriter {
    /// Names may repeat.
    #[default]
    Other,
    /// Go's test names are unique in a package: a repeated one was tried again. Tests fail with their subtests.
    Go,
    /// pytest's ids are unique: a repeated one was tried again, or its teardown failed.
    Pytest,
}

/// The tests of one suite that may repeat.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    writer: Option<ReportWriter>,
    tests: HashMap<u64, RepeatEntry>,
}

impl Repeats {
    /// Whether the test was seen in this suite: then what is known of it.
    pub(super) fn seen(&mut self, suite: &Element, name: &str) -> Option<RepeatEntry> {
        match *self.writer.get_or_insert_with(|| writer(suite)) {
            ReportWriter::Other => None,
            ReportWriter::Go | ReportWriter::Pytest => self.tests.get(&name_hash(name)).copied(),
        }
    }

    /// Keeps what is known of a test that was not seen before.
    pub(super) fn first(&mut self, name: &str, outcome: TestOutcome, case: Option<usize>) {
        if self.writer.is_some_and(|writer| writer != ReportWriter::Other) {
            self.tests.insert(name_hash(name), RepeatEntry { outcome, case, attempts: 1 });
        }
    }

    /// Keeps what is known of a test that was seen before.
    pub(super) fn again(&mut self, name: &str, outcome: TestOutcome, case: Option<usize>) {
        if let Some(entry) = self.tests.get_mut(&name_hash(name)) {
            *entry = RepeatEntry { outcome, case, attempts: entry.attempts + 1 };
        }
    }

    /// The cases of the suite, from number `first` on, that failed because others of them did: Go's tests with subtests.
    pub(super) fn parents(&self, cases: &[Case], first: usize, dropped: &BTreeSet<usize>) -> Vec<usize> {
        if self.writer != Some(ReportWriter::Go) {
            return Vec::new();
        }
        let left = || cases.iter().enumerate().skip(first).filter(|(index, _)| !dropped.contains(index));
        let mut holders: HashSet<&str> = HashSet::new();
        for (_, case) in left() {
            holders.extend(case.name.match_indices('/').map(|(at, _)| &case.name[..at]));
        }
        left().filter(|(_, case)| holders.contains(case.name.as_str())).map(|(index, _)| index).collect()
    }
}

/// Whether a test's error is that of its teardown, which pytest writes as a second `<testcase>` when the test failed too.
pub(super) fn is_teardown(test: &Element) -> bool {
    test.children("error").any(|error| error.attribute("message").is_some_and(|said| said.starts_with("failed on teardown")))
}

/// Who wrote a suite: Go's converters note the version, pytest names its one suite.
fn writer(suite: &Element) -> ReportWriter {
    let properties = suite.children("properties").flat_map(|list| list.children("property"));
    if properties.filter_map(|property| property.attribute("name")).any(|name| name == "go.version") {
        ReportWriter::Go
    } else if suite.attribute("name") == Some("pytest") {
        ReportWriter::Pytest
    } else {
        ReportWriter::Other
    }
}
