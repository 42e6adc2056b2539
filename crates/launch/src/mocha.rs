//! Reads Mocha's JSON (`--reporter json`).
//!
//! A failed hook is no test: it is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::unique::name_hash;
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use std::collections::HashSet;

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "Mocha JSON", signs: &[FormatSign::Keys(&["stats.passes", "tests|failures"])], is_json: true, read };

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochaReport {
    stats: Loose<MochaStats>,
    tests: List<MochaTest>,
    pending: List<MochaTest>,
    failures: List<MochaTest>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MochaStats {
    pub(super) tests: JsonNumber,
    pub(super) failures: JsonNumber,
    pub(super) start: Text,
    pub(super) end: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MochaTest {
    title: Text,
    full_title: Text,
    file: Text,
    duration: JsonNumber,
    current_retry: JsonNumber,
    err: Loose<MochaError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochaError {
    message: Text,
    stack: Text,
    expected: Text,
    actual: Text,
}

impl MochaTest {
    fn key(&self) -> u64 {
        name_hash(&format!("{}\n{}", &*self.file, &*self.full_title))
    }

    fn error(&self) -> String {
        let text = error_text(&self.err.message, &self.err.stack);
        let (expected, actual) = (self.err.expected.trim(), self.err.actual.trim());
        let is_shown = [expected, actual].iter().all(|value| value.is_empty() || text.contains(value));
        if is_shown { text } else { format!("{text}\nexpected: {expected}\nactual: {actual}") }
    }

    fn record(&self, outcome: TestOutcome, is_test: bool) -> TestRecord {
        let title = self.title.trim();
        let suite = self.full_title.trim().strip_suffix(title).unwrap_or_default();
        let mut record = TestRecord::new(suite, title, outcome);
        record.is_test = is_test;
        record.locate(&self.file, 0);
        record.duration_s = self.duration.millis();
        if outcome.is_failure() {
            record.error = self.error();
            for _ in 0..self.current_retry.count().min(100) {
                record.attempts.add("");
            }
        }
        record
    }
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: MochaReport, builder| {
        builder.span(report.stats.start.time(), report.stats.end.time());
        builder.declare(report.stats.failures.count());
        builder.declare_tests(report.stats.tests.count());
        let pending: HashSet<u64> = report.pending.iter().map(MochaTest::key).collect();
        let failed: HashSet<u64> = report.failures.iter().map(MochaTest::key).collect();
        let mut tests = HashSet::new();
        for test in report.tests {
            if test.title.is_empty() && test.full_title.is_empty() {
                builder.no_outcome("");
                continue;
            }
            let key = test.key();
            tests.insert(key);
            let outcome = if !test.err.message.is_empty() || !test.err.stack.is_empty() || failed.contains(&key) {
                TestOutcome::Failed
            } else if pending.contains(&key) {
                TestOutcome::Skipped
            } else if test.current_retry.count() > 0 {
                TestOutcome::Flaky
            } else {
                TestOutcome::Passed
            };
            builder.add(test.record(outcome, true));
        }
        for hook in report.failures.into_iter().filter(|failure| !tests.contains(&failure.key())) {
            let mut record = hook.record(TestOutcome::Error, false);
            record.set("fixture", "hook");
            builder.add(record);
        }
    })
}
