//! Tests that occur more than once in their suite: a retry in some tools' reports, another test with the same name in all others.

use super::unique::name_hash;
use super::xml::Element;
use asterisk_base::model::{Case, TestOutcome};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The state of a test that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct RepeatEntry {
    /// Its outcome so far.
    pub(super) outcome: TestOutcome,
    /// The index of its case in the launch.
    pub(super) case: Option<usize>,
    pub(super) attempts: usize,
}

/// The tool that wrote a suite, as far as it matters for repeated names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReportWriter {
    /// Different tests may have the same name.
    #[default]
    Other,
    /// Go's test names are unique in a package: a repeated one is a retry. Tests fail with their subtests.
    Go,
    /// pytest's ids are unique: a repeated one is a retry, or a failed teardown.
    Pytest,
}

/// The tests of one suite, if names may repeat there.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    writer: Option<ReportWriter>,
    tests: HashMap<u64, RepeatEntry>,
}

impl Repeats {
    /// The state of a test if it was seen before in this suite.
    pub(super) fn seen(&mut self, suite: &Element, name: &str) -> Option<RepeatEntry> {
        match *self.writer.get_or_insert_with(|| writer(suite)) {
            ReportWriter::Other => None,
            ReportWriter::Go | ReportWriter::Pytest => self.tests.get(&name_hash(name)).copied(),
        }
    }

    /// Records a test that was not seen before.
    pub(super) fn first(&mut self, name: &str, outcome: TestOutcome, case: Option<usize>) {
        if self.writer.is_some_and(|writer| writer != ReportWriter::Other) {
            self.tests.insert(name_hash(name), RepeatEntry { outcome, case, attempts: 1 });
        }
    }

    /// Records a further attempt of a test.
    pub(super) fn again(&mut self, name: &str, outcome: TestOutcome, case: Option<usize>) {
        if let Some(entry) = self.tests.get_mut(&name_hash(name)) {
            *entry = RepeatEntry { outcome, case, attempts: entry.attempts + 1 };
        }
    }

    /// The cases from index `first` on that failed because of their subtests (Go).
    pub(super) fn parents(&self, cases: &[Case], first: usize, dropped: &BTreeSet<usize>) -> Vec<usize> {
        if self.writer != Some(ReportWriter::Go) {
            return Vec::new();
        }
        let remaining = || cases.iter().enumerate().skip(first).filter(|(index, _)| !dropped.contains(index));
        let mut parents: HashSet<&str> = HashSet::new();
        for (_, case) in remaining() {
            parents.extend(case.name.match_indices('/').map(|(at, _)| &case.name[..at]));
        }
        remaining().filter(|(_, case)| parents.contains(case.name.as_str())).map(|(index, _)| index).collect()
    }
}

/// Whether a test's error is that of its teardown, which pytest writes as a second `<testcase>` if the test failed too.
pub(super) fn is_teardown(test: &Element) -> bool {
    test.children("error")
        .any(|error| error.attribute("message").is_some_and(|message| message.starts_with("failed on teardown")))
}

/// Recognises the writer: Go's converters write the Go version, pytest names its single suite.
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
