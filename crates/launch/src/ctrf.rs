//! Reads the Common Test Report Format (CTRF).

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "CTRF",
    signs: &[
        FormatSign::Keys(&["reportFormat", "results"]),
        FormatSign::Keys(&["results.tool", "results.summary|results.tests"]),
    ],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfReport {
    results: Loose<CtrfResults>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfResults {
    tool: Loose<CtrfTool>,
    summary: Loose<CtrfSummary>,
    environment: Loose<CtrfEnvironment>,
    tests: List<CtrfTest>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfTool {
    name: Text,
    version: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfSummary {
    tests: JsonNumber,
    failed: JsonNumber,
    start: JsonNumber,
    stop: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CtrfEnvironment {
    app_name: Text,
    build_name: Text,
    build_number: Text,
    commit: Text,
    branch_name: Text,
    test_environment: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CtrfTest {
    name: Text,
    status: Text,
    raw_status: Text,
    duration: JsonNumber,
    start: JsonNumber,
    suite: List<Text>,
    message: Text,
    trace: Text,
    snippet: Text,
    file_path: Text,
    line: JsonNumber,
    retries: JsonNumber,
    flaky: Loose<bool>,
    browser: Text,
    tags: List<Text>,
    stdout: List<Text>,
    stderr: List<Text>,
    retry_attempts: List<CtrfAttempt>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfAttempt {
    status: Text,
    message: Text,
    trace: Text,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |Loose(report): Loose<CtrfReport>, builder| {
        let results = report.results.0;
        builder.declare(results.summary.failed.count());
        builder.declare_tests(results.summary.tests.count());
        builder.span(results.summary.start.time(), results.summary.stop.time());
        let environment = &results.environment;
        let launch = builder.launch();
        launch.number = environment.build_number.parse().ok();
        launch.git.commit = environment.commit.some().map(str::to_owned);
        launch.git.branch = environment.branch_name.some().map(str::to_owned);
        let name = environment.build_name.some().or(environment.app_name.some());
        name.unwrap_or_default().clone_into(&mut launch.name);
        builder.set("tool", results.tool.name.some());
        builder.set("tool_version", results.tool.version.some());
        builder.set("environment", environment.test_environment.some());
        for test in &*results.tests {
            read_test(test, builder);
        }
    })
}

fn read_test(test: &CtrfTest, builder: &mut LaunchBuilder) {
    let is_retried = test.flaky.0 || test.retries.count() > 0;
    let outcome = match &*test.status {
        "passed" if is_retried => TestOutcome::Flaky,
        "passed" => TestOutcome::Passed,
        "failed" => TestOutcome::Failed,
        "skipped" | "pending" => TestOutcome::Skipped,
        // A status of the tool itself that CTRF has no word for.
        "other" => TestOutcome::Error,
        _ => {
            builder.no_outcome(&test.name);
            return;
        }
    };
    let name = test.name.rsplit_once("::").filter(|(path, _)| !path.contains('[')).map_or(&*test.name, |(_, name)| name);
    let mut record = TestRecord::new(&test.suite.joined(" > "), if test.suite.is_empty() { &test.name } else { name }, outcome);
    record.locate(&test.file_path, test.line.count());
    record.started_at = test.start.time();
    record.duration_s = test.duration.millis();
    record.set("browser", test.browser.some());
    record.set("raw_status", test.raw_status.some());
    for tag in &*test.tags {
        record.set("tag", tag.some());
    }
    if outcome.is_failure() {
        record.error = error_text(&test.message, &test.trace);
        if record.error.is_empty() {
            record.error = format!("the test is {}", test.raw_status.some().unwrap_or(&test.status));
        }
        let log = [&*test.snippet, &*test.stdout.joined("\n"), &*test.stderr.joined("\n")].join("\n");
        log.trim().clone_into(&mut record.log);
        let failed = test.retry_attempts.iter().filter(|attempt| &*attempt.status == "failed");
        let errors: Vec<String> = failed.map(|attempt| error_text(&attempt.message, &attempt.trace)).collect();
        for attempt in 0..test.retries.count().min(100) {
            let index = usize::try_from(attempt).unwrap_or(usize::MAX);
            record.attempts.add(errors.get(index).map_or("", String::as_str));
        }
    }
    builder.add(record);
}
