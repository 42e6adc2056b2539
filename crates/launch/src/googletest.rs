//! Reads googletest's JSON (`--gtest_output=json`).

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Text};
use super::{InputPart, json_report, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "googletest JSON",
    signs: &[FormatSign::Keys(&["testsuites", "disabled|testsuites.testsuite"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct GoogleReport {
    tests: JsonNumber,
    failures: JsonNumber,
    errors: JsonNumber,
    timestamp: Text,
    time: Text,
    name: Text,
    testsuites: List<GoogleSuite>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GoogleSuite {
    name: Text,
    testsuite: List<GoogleTest>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GoogleTest {
    name: Text,
    classname: Text,
    value_param: Text,
    type_param: Text,
    file: Text,
    line: JsonNumber,
    status: Text,
    result: Text,
    timestamp: Text,
    time: Text,
    failures: List<GoogleFailure>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GoogleFailure {
    failure: Text,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: GoogleReport, builder| {
        let began = report.timestamp.time();
        builder.span(began, began.zip(times::seconds(&report.time)).map(|(from, took)| times::later(from, took)));
        builder.declare(report.failures.count().saturating_add(report.errors.count()));
        builder.declare_tests(report.tests.count());
        report.name.clone_into(&mut builder.launch().name);
        for suite in report.testsuites {
            for test in &*suite.testsuite {
                read_test(test, &suite.name, builder);
            }
        }
    })
}

fn read_test(test: &GoogleTest, suite: &str, builder: &mut LaunchBuilder) {
    let outcome = match (&*test.status, &*test.result) {
        _ if !test.failures.is_empty() => TestOutcome::Failed,
        ("NOTRUN", _) | (_, "SKIPPED" | "SUPPRESSED") => TestOutcome::Skipped,
        (_, "COMPLETED") => TestOutcome::Passed,
        _ => {
            builder.no_outcome(&test.name);
            return;
        }
    };
    let mut record = TestRecord::new(test.classname.some().unwrap_or(suite), &test.name, outcome);
    let errors: Vec<&str> = test.failures.iter().filter_map(|failure| failure.failure.some()).collect();
    // The place of the first failure is closer than that of the test.
    let (file, line) = errors.first().and_then(|error| place(error)).unwrap_or((&test.file, test.line.count()));
    record.locate(file, line);
    record.set("value_param", test.value_param.some());
    record.set("type_param", test.type_param.some());
    record.started_at = test.timestamp.time();
    record.duration_s = times::seconds(&test.time);
    record.error = errors.join("\n\n");
    builder.add(record);
}

/// File and line at the start of a failure: `dir/a.cc:12`.
fn place(error: &str) -> Option<(&str, u64)> {
    let (file, line) = error.lines().next()?.trim_end_matches(':').rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}
