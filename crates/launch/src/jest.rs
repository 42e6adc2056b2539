//! Reads the JSON of Jest (`--json`) and of Vitest (`--reporter=json`).
//!
//! A file that failed without a failed test did not load, or its hooks failed: it is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Jest JSON",
    signs: &[FormatSign::Keys(&["testResults", "numFailedTests|numTotalTests|numTotalTestSuites"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JestReport {
    num_failed_tests: JsonNumber,
    num_runtime_error_test_suites: JsonNumber,
    num_total_tests: JsonNumber,
    start_time: JsonNumber,
    success: Option<Loose<bool>>,
    test_results: List<JestFile>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JestFile {
    name: Text,
    test_file_path: Text,
    status: Text,
    message: Text,
    failure_message: Text,
    test_exec_error: Loose<JestError>,
    assertion_results: List<JestTest>,
    end_time: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JestError {
    message: Text,
    stack: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JestTest {
    ancestor_titles: List<Text>,
    title: Text,
    full_name: Text,
    status: Text,
    failure_messages: List<Text>,
    retry_reasons: List<Text>,
    invocations: JsonNumber,
    duration: JsonNumber,
    start_at: JsonNumber,
    location: Loose<JestLocation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JestLocation {
    line: JsonNumber,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: JestReport, builder| {
        builder.declare(report.num_failed_tests.count().saturating_add(report.num_runtime_error_test_suites.count()));
        builder.declare_tests(report.num_total_tests.count());
        builder.declare_failed(report.success.as_ref().is_some_and(|success| !success.0));
        builder.span(report.start_time.time(), None);
        for file in report.test_results {
            read_file(file, builder);
        }
    })
}

fn read_file(file: JestFile, builder: &mut LaunchBuilder) {
    let path = file.name.some().or(file.test_file_path.some()).unwrap_or_default();
    builder.span(None, file.end_time.time());
    let mut has_failed = false;
    for test in file.assertion_results {
        let Some(record) = record(&test, path, builder) else { continue };
        has_failed |= record.outcome.is_failure();
        builder.add(record);
    }
    let error = error_text(&file.test_exec_error.message, &file.test_exec_error.stack);
    if !error.is_empty() || &*file.status == "failed" && !has_failed {
        let mut record = TestRecord::fixture("", texts::file_name(path));
        record.set("fixture", "file");
        record.locate(path, 0);
        let said = [&*file.message, &*file.failure_message].into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default();
        let said = said.trim().strip_prefix("● Test suite failed to run").unwrap_or(said).trim();
        let texts = [said, &error, "the file failed, but none of its tests"];
        record.error.push_str(texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default());
        builder.add(record);
    }
}

/// A test; `None` if it has no outcome.
fn record(test: &JestTest, path: &str, builder: &mut LaunchBuilder) -> Option<TestRecord> {
    let (attempts, retried) = (test.invocations.count(), test.retry_reasons.len() as u64);
    let is_retried = attempts > 1 || retried > 0;
    let outcome = match &*test.status {
        "passed" | "focused" if is_retried => TestOutcome::Flaky,
        "passed" | "focused" => TestOutcome::Passed,
        "failed" => TestOutcome::Failed,
        "" => {
            builder.no_outcome(&test.full_name);
            return None;
        }
        _ => TestOutcome::Skipped,
    };
    let suite = test.ancestor_titles.joined(" > ");
    // Titles are unique in a file at most.
    let suite = if suite.is_empty() { texts::file_name(path) } else { &suite };
    let mut record = TestRecord::new(suite, test.title.some().unwrap_or(&test.full_name), outcome);
    record.locate(path, test.location.line.count());
    record.started_at = test.start_at.time();
    record.duration_s = test.duration.millis();
    let ended = record.started_at.zip(record.duration_s).map(|(from, took)| times::later(from, took));
    builder.span(record.started_at, ended);
    if outcome.is_failure() {
        record.error = test.failure_messages.joined("\n\n");
        for attempt in 0..attempts.saturating_sub(1).max(retried).min(100) {
            let index = usize::try_from(attempt).unwrap_or(usize::MAX);
            record.attempts.add(test.retry_reasons.get(index).map_or("", |reason| reason));
        }
    }
    Some(record)
}
