//! Reads the events in Playwright's blob report (`report.jsonl` of a shard): several of them are merged as one launch.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{List, Loose, Text};
use super::playwright::{PlaywrightError, PlaywrightLocation, PlaywrightResult};
use super::{InputPart, json_events, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Playwright blob",
    signs: &[FormatSign::Event(|line| {
        let method = line.get("method").and_then(serde_json::Value::as_str);
        method.is_some_and(|method| ["onBlobReportMetadata", "onConfigure", "onProject"].contains(&method))
    })],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct BlobEvent {
    method: Text,
    params: Loose<BlobParams>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BlobParams {
    project: Loose<BlobProject>,
    test_id: Text,
    test: Loose<BlobEntry>,
    result: Loose<PlaywrightResult>,
    error: Loose<PlaywrightError>,
    data: Text,
    is_base64: Loose<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BlobProject {
    name: Text,
    suites: List<BlobEntry>,
}

/// A suite or a test.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BlobEntry {
    title: Text,
    test_id: Text,
    expected_status: Text,
    location: Loose<PlaywrightLocation>,
    tags: List<Text>,
    entries: List<Self>,
    suites: List<Self>,
    tests: List<Self>,
}

/// A test that was announced.
#[derive(Default)]
struct BlobTest {
    file: String,
    line: u64,
    name: String,
    project: String,
    tags: String,
    started: bool,
    log: String,
}

#[derive(Default)]
struct BlobReader {
    tests: BTreeMap<String, BlobTest>,
    projects: usize,
    has_ended: bool,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut builder = input.builder();
    let mut reader = BlobReader::default();
    let cut = json_events::read(input.stream, &mut builder, |event, builder| reader.event(event, builder))?;
    if cut.is_some() || !reader.has_ended {
        builder.cut_off("the file is cut off before the run ends".to_owned());
    }
    builder.declare_tests(reader.tests.len() as u64);
    for test in std::mem::take(&mut reader.tests).into_values().filter(|test| test.started) {
        let mut record = reader.record(&test, TestOutcome::Error);
        "the test began and did not end".clone_into(&mut record.error);
        record.log = test.log;
        builder.attempt(record);
    }
    Ok(builder.finish(input.source.name()))
}

impl BlobReader {
    fn event(&mut self, event: BlobEvent, builder: &mut LaunchBuilder) {
        let params = event.params.0;
        match &*event.method {
            "onProject" => {
                self.projects += 1;
                let project = params.project.0;
                for file in project.suites {
                    self.announce(file, "", &project.name);
                }
            }
            "onTestBegin" => {
                if let Some(test) = self.tests.get_mut(&*params.test_id) {
                    (test.started, test.log) = (true, String::new());
                }
            }
            "onStdIO" if !params.is_base64.0 => {
                if let Some(test) = self.tests.get_mut(&*params.test_id) {
                    super::lines::push_bounded(&mut test.log, &params.data, 64 << 10);
                }
            }
            "onTestEnd" => self.end(&params, builder),
            "onError" => drop(builder.add(params.error.record())),
            "onEnd" => {
                self.has_ended = true;
                builder.declare_failed(!matches!(&*params.result.status, "passed" | ""));
                let start = params.result.start_time.time();
                builder.span(start, start.zip(params.result.duration.millis()).map(|(from, took)| times::later(from, took)));
            }
            _ => {}
        }
    }

    /// Remembers the tests of a suite; the depth is that of the JSON.
    fn announce(&mut self, suite: BlobEntry, path: &str, project: &str) {
        for entry in suite.entries.into_iter().chain(suite.suites).chain(suite.tests) {
            let title = entry.title.trim();
            if entry.test_id.is_empty() {
                let path = format!("{path}{title} › ");
                self.announce(entry, &path, project);
                continue;
            }
            let test = BlobTest {
                file: entry.location.file.to_string(),
                line: entry.location.line.count(),
                name: format!("{path}{title}"),
                project: project.to_owned(),
                tags: entry.tags.iter().map(|tag| tag.trim_start_matches('@')).collect::<Vec<_>>().join(", "),
                ..BlobTest::default()
            };
            self.tests.insert(entry.test_id.to_string(), test);
        }
    }

    fn end(&mut self, params: &BlobParams, builder: &mut LaunchBuilder) {
        let Some(mut test) = self.tests.remove(&*params.test.test_id) else { return };
        let status = &*params.result.status;
        let outcome = match status {
            "skipped" => TestOutcome::Skipped,
            "interrupted" => TestOutcome::Error,
            "" => {
                builder.no_outcome(&test.name);
                return;
            }
            _ if *params.test.expected_status == *status => TestOutcome::Passed,
            _ => TestOutcome::Failed,
        };
        let mut record = self.record(&test, outcome);
        record.duration_s = params.result.duration.millis();
        if outcome.is_failure() {
            record.error = params.result.error_text();
            record.log = std::mem::take(&mut test.log);
        }
        test.started = false;
        self.tests.insert(params.test.test_id.to_string(), test);
        builder.attempt(record);
    }

    fn record(&self, test: &BlobTest, outcome: TestOutcome) -> TestRecord {
        let name = if self.projects > 1 { format!("{} [{}]", test.name, test.project) } else { test.name.clone() };
        let mut record = TestRecord::new(&test.file, &name, outcome);
        record.locate(&test.file, test.line);
        record.set("project", test.project.as_str());
        record.set("tag", test.tags.as_str());
        record
    }
}
