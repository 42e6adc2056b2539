//! Reads Playwright's JSON report (`--reporter=json`).
//!
//! Errors outside of tests (a file that did not load, a failed global set-up) are cases. The attempts of a test are listed in it.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Playwright JSON",
    signs: &[
        FormatSign::Keys(&["config", "suites", "errors|stats|suites.specs"]),
        FormatSign::Keys(&["config.projects", "config.rootDir"]),
    ],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightReport {
    config: Loose<PlaywrightConfig>,
    suites: List<PlaywrightSuite>,
    errors: List<PlaywrightError>,
    stats: Loose<PlaywrightStats>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PlaywrightConfig {
    projects: List<PlaywrightProject>,
    version: Text,
}

#[derive(Default, Deserialize)]
struct PlaywrightProject {}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PlaywrightStats {
    start_time: Text,
    duration: JsonNumber,
    expected: JsonNumber,
    unexpected: JsonNumber,
    flaky: JsonNumber,
    skipped: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightSuite {
    title: Text,
    specs: List<PlaywrightSpec>,
    suites: List<Self>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightSpec {
    title: Text,
    tags: List<Text>,
    tests: List<PlaywrightTest>,
    file: Text,
    line: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PlaywrightTest {
    project_name: Text,
    status: Text,
    results: List<PlaywrightResult>,
}

/// One attempt of a test.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PlaywrightResult {
    pub(super) status: Text,
    pub(super) duration: JsonNumber,
    pub(super) start_time: Text,
    error: Loose<PlaywrightError>,
    pub(super) errors: List<PlaywrightError>,
    stdout: List<PlaywrightOutput>,
    stderr: List<PlaywrightOutput>,
    attachments: List<PlaywrightAttachment>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PlaywrightError {
    message: Text,
    stack: Text,
    value: Text,
    snippet: Text,
    pub(super) location: Loose<PlaywrightLocation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PlaywrightLocation {
    pub(super) file: Text,
    pub(super) line: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightOutput {
    text: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightAttachment {
    name: Text,
    path: Text,
}

impl PlaywrightError {
    /// Message, stack and the lines of code at fault.
    pub(super) fn text(&self) -> String {
        let text = error_text(self.message.some().unwrap_or(&self.value), &self.stack);
        let known: String = text.chars().filter(|ch| !ch.is_whitespace()).collect();
        let snippet: String = self.snippet.chars().filter(|ch| !ch.is_whitespace()).collect();
        if snippet.is_empty() || known.contains(&snippet) { text } else { format!("{text}\n\n{}", self.snippet.trim_end()) }
    }

    /// The case of an error outside of tests, called after its file.
    pub(super) fn record(&self) -> TestRecord {
        let name = self.location.file.some().map_or("run", texts::file_name);
        let mut record = TestRecord::fixture("", name);
        record.set("fixture", "file");
        record.locate(&self.location.file, self.location.line.count());
        record.error = self.text();
        record
    }
}

impl PlaywrightResult {
    pub(super) fn error_text(&self) -> String {
        let texts: Vec<String> = self.errors.iter().map(PlaywrightError::text).filter(|text| !text.is_empty()).collect();
        let text = if texts.is_empty() { self.error.text() } else { texts.join("\n\n") };
        match &*self.status {
            "timedOut" if text.is_empty() => "the test timed out".to_owned(),
            "interrupted" if text.is_empty() => "the test was interrupted".to_owned(),
            "passed" if text.is_empty() => "the test passed, but was expected to fail".to_owned(),
            _ => text,
        }
    }
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: PlaywrightReport, builder| {
        let stats = &report.stats;
        let start = stats.start_time.time();
        builder.span(start, start.zip(stats.duration.millis()).map(|(from, took)| times::later(from, took)));
        builder.declare(stats.unexpected.count().saturating_add(report.errors.len() as u64));
        builder.declare_tests(
            [stats.expected, stats.unexpected, stats.flaky, stats.skipped]
                .iter()
                .map(|count| count.count())
                .fold(0, u64::saturating_add),
        );
        builder.set("playwright_version", report.config.version.some());
        for error in &*report.errors {
            builder.add(error.record());
        }
        let has_projects = report.config.projects.len() > 1;
        for suite in report.suites {
            // The outermost suite is the file.
            read_suite(suite, "", has_projects, builder);
        }
    })
}

/// Reads a suite and those in it; the depth of both is that of the JSON.
fn read_suite(suite: PlaywrightSuite, path: &str, has_projects: bool, builder: &mut LaunchBuilder) {
    for spec in suite.specs {
        let name = format!("{path}{}", spec.title.trim());
        for test in &*spec.tests {
            let project = test.project_name.some().filter(|_| has_projects);
            let name = project.map_or_else(|| name.clone(), |project| format!("{name} [{project}]"));
            read_test(test, &spec, &name, builder);
        }
        if spec.tests.is_empty() {
            builder.no_outcome(&name);
        }
    }
    for inner in suite.suites {
        let path = format!("{path}{} › ", inner.title.trim());
        read_suite(inner, &path, has_projects, builder);
    }
}

fn read_test(test: &PlaywrightTest, spec: &PlaywrightSpec, name: &str, builder: &mut LaunchBuilder) {
    let is_interrupted = test.results.iter().any(|result| &*result.status == "interrupted");
    let outcome = match &*test.status {
        _ if is_interrupted => TestOutcome::Error,
        "expected" => TestOutcome::Passed,
        "unexpected" => TestOutcome::Failed,
        "flaky" => TestOutcome::Flaky,
        "skipped" => TestOutcome::Skipped,
        _ => {
            builder.no_outcome(name);
            return;
        }
    };
    let mut record = TestRecord::new(&spec.file, name, outcome);
    record.locate(&spec.file, spec.line.count());
    record.set("project", test.project_name.some());
    record.set("tag", spec.tags.joined(", ").as_str());
    let mut failed = test.results.iter().filter(|result| outcome.is_failure() && &*result.status != "skipped");
    if let Some(first) = failed.next() {
        record.started_at = first.start_time.time();
        record.duration_s = first.duration.millis();
        record.error = first.error_text();
        record.log = first.stdout.iter().chain(&*first.stderr).map(|part| &*part.text).collect();
        for file in &*first.attachments {
            record.set("attachments", file.path.some().map(texts::file_name).or(file.name.some()));
        }
        failed.for_each(|later| record.attempts.add(&later.error_text()));
    } else if outcome.is_failure() {
        "the test did not run".clone_into(&mut record.error);
    }
    builder.add(record);
}
