//! Reads Newman's JSON (`--reporters json`): each assertion on a response is a test.
//!
//! A request that was not answered and a script that failed are cases.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use std::collections::HashMap;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Newman JSON",
    signs: &[FormatSign::Keys(&["collection.item|collection.info"]), FormatSign::Keys(&["run.executions", "run.stats"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanReport {
    collection: Loose<NewmanItem>,
    run: Option<Loose<NewmanRun>>,
}

/// A collection, folder or request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanItem {
    id: Text,
    name: Text,
    info: Loose<NewmanInfo>,
    item: List<Self>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanInfo {
    name: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanRun {
    stats: Loose<NewmanStats>,
    timings: Loose<NewmanTimings>,
    executions: List<NewmanExecution>,
    error: Loose<NewmanError>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NewmanStats {
    requests: Loose<NewmanCount>,
    test_scripts: Loose<NewmanCount>,
    prerequest_scripts: Loose<NewmanCount>,
    assertions: Loose<NewmanCount>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanCount {
    failed: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanTimings {
    started: JsonNumber,
    completed: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NewmanExecution {
    cursor: Loose<NewmanCursor>,
    item: Loose<NewmanItem>,
    response: Loose<NewmanResponse>,
    request_error: Loose<NewmanError>,
    prerequest_script: List<NewmanScript>,
    test_script: List<NewmanScript>,
    assertions: List<NewmanAssertion>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanCursor {
    iteration: JsonNumber,
    cycles: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NewmanResponse {
    code: Text,
    status: Text,
    response_time: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanScript {
    error: Loose<NewmanError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanAssertion {
    assertion: Text,
    skipped: Loose<bool>,
    error: Option<Loose<NewmanError>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewmanError {
    name: Text,
    message: Text,
    stack: Text,
    code: Text,
    syscall: Text,
    address: Text,
    port: Text,
}

impl NewmanError {
    fn text(&self) -> String {
        let message = match (self.message.some(), self.code.some()) {
            (Some(message), _) if self.stack.is_empty() && !self.name.is_empty() => format!("{}: {message}", &*self.name),
            (Some(message), _) => message.to_owned(),
            (None, Some(code)) => format!("{} {code} {}:{}", &*self.syscall, &*self.address, &*self.port),
            (None, None) => String::new(),
        };
        error_text(message.trim(), &self.stack)
    }
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: NewmanReport, builder| {
        let name = report.collection.info.name.some().or(report.collection.name.some()).unwrap_or_default();
        name.clone_into(&mut builder.launch().name);
        let mut paths = HashMap::new();
        collect(&report.collection.item, "", &mut paths);
        let Some(Loose(run)) = report.run else {
            builder.cut_off("the file has no run".to_owned());
            return;
        };
        let stats = &run.stats;
        let counts = [&stats.requests, &stats.test_scripts, &stats.prerequest_scripts, &stats.assertions];
        builder.declare(counts.iter().map(|count| count.failed.count()).fold(0, u64::saturating_add));
        builder.span(run.timings.started.time(), run.timings.completed.time());
        for execution in &*run.executions {
            let path = paths.get(&*execution.item.id).cloned().unwrap_or_else(|| execution.item.name.trim().to_owned());
            read_execution(execution, &path, builder);
        }
        let error = run.error.text();
        if !error.is_empty() {
            let mut record = TestRecord::fixture("", "run");
            record.error = error;
            builder.add(record);
        }
    })
}

/// Collects the paths of requests by their ids.
fn collect(items: &List<NewmanItem>, outer: &str, paths: &mut HashMap<String, String>) {
    for item in &**items {
        let name = item.name.trim();
        let path = if outer.is_empty() { name.to_owned() } else { format!("{outer} > {name}") };
        collect(&item.item, &path, paths);
        paths.insert(item.id.to_string(), path);
    }
}

fn read_execution(execution: &NewmanExecution, path: &str, builder: &mut LaunchBuilder) {
    // Iterations are runs with other data.
    let iteration = execution.cursor.iteration.count().saturating_add(1);
    let number = if execution.cursor.cycles.count() > 1 { format!(" [iteration {iteration}]") } else { String::new() };
    let response = &execution.response;
    let finish = |record: &mut TestRecord| {
        record.duration_s = response.response_time.millis();
        record.set("response", format!("{} {}", &*response.code, &*response.status).trim());
    };
    let scripts = [("pre-request script", &execution.prerequest_script), ("test script", &execution.test_script)];
    let failed = scripts.into_iter().flat_map(|(name, scripts)| scripts.iter().map(move |script| (name, &script.error)));
    for (name, error) in [("request", &execution.request_error)].into_iter().chain(failed) {
        let text = error.text();
        if !text.is_empty() {
            let mut record = TestRecord::fixture(path, &format!("{name}{number}"));
            record.set("fixture", name);
            record.error = text;
            finish(&mut record);
            builder.add(record);
        }
    }
    for assertion in &*execution.assertions {
        if assertion.assertion.is_empty() && assertion.error.is_none() {
            builder.no_outcome(path);
            continue;
        }
        let outcome = match &assertion.error {
            Some(_) => TestOutcome::Failed,
            None if assertion.skipped.0 => TestOutcome::Skipped,
            None => TestOutcome::Passed,
        };
        let mut record = TestRecord::new(path, &format!("{}{number}", assertion.assertion.trim()), outcome);
        if let Some(error) = &assertion.error {
            record.error = error.text();
        }
        finish(&mut record);
        builder.add(record);
    }
}
