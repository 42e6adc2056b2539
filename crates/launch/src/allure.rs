//! Allure results: a directory with one JSON file for each test (`*-result.json`) and fixture (`*-container.json`).
//!
//! Files come in any order. The results in a directory form one launch; results with the same history are attempts, ordered by
//! time; a failed fixture is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::room::TextRoom;
use super::{InputPart, cut, json_span, texts, times};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Attributes, Hasher, TestOutcome};
use asterisk_diag::Diagnostics;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Once this many bytes of texts are held, the texts of further results are cut shorter.
const HELD: usize = 128 << 20;

/// The maximum bytes of one text: below and above [`HELD`].
const MAX_TEXT: [usize; 2] = [64 << 10, 512];

/// The maximum depth of steps shown in a log.
const MAX_DEPTH: usize = 16;

/// The contents of one file.
#[derive(Debug)]
pub(super) enum AllureFile {
    /// A test, with the history that its attempts share.
    Result { history: String, record: Box<TestRecord> },
    /// The failed fixtures of a container.
    Container(Vec<TestRecord>),
    /// The tool that ran the tests.
    Executor { name: String, number: Option<i64> },
    /// Invalid JSON: line and message.
    Broken(usize, String),
}

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Allure",
    signs: &[
        FormatSign::Keys(&["uuid", "historyId|statusDetails|stage|labels|steps", "name|fullName|status"]),
        // A report of version 3.
        FormatSign::Keys(&["historyId|testCase", "groupedLabels|breadcrumbs|titlePath", "status"]),
        FormatSign::Keys(&["children", "befores|afters"]),
        FormatSign::Keys(&["buildName|buildOrder", "name", "type|reportUrl|reportName|buildUrl"]),
    ],
    is_json: true,
    read,
};

/// Reads one file. An invalid result file becomes a note on the launch, not an error.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    // The file of one test is never so large that it is not held.
    let source = input.into_held().ok_or_else(Diagnostics::new)?;
    let file = match serde_json::from_str::<Value>(source.text().trim_start_matches('\u{feff}')) {
        Ok(value) => parse(&value),
        Err(error) if is_result_name(source.name()) => AllureFile::Broken(error.line(), error.to_string()),
        Err(error) => return Err(json_span::syntax(source, &error).into()),
    };
    Ok(InputPart { allure: Some(file), ..InputPart::default() })
}

fn is_result_name(name: &str) -> bool {
    ["-result.json", "-container.json"].iter().any(|ending| name.ends_with(ending))
}

fn parse(value: &Value) -> AllureFile {
    let list = |name| value.get(name).and_then(Value::as_array).into_iter().flatten();
    if value.get("befores").is_some() || value.get("afters").is_some() {
        let before = list("befores").map(|fixture| (fixture, "set-up"));
        let after = list("afters").map(|fixture| (fixture, "tear-down"));
        let suite = text(value, "name");
        return AllureFile::Container(before.chain(after).filter_map(|(one, kind)| fixture(one, suite, kind)).collect());
    }
    if value.get("buildOrder").is_some() || value.get("buildName").is_some() {
        let name = [text(value, "buildName"), text(value, "name")].into_iter().find(|name| !name.is_empty());
        let number = value.get("buildOrder").and_then(|order| order.as_i64().or_else(|| order.as_str()?.parse().ok()));
        return AllureFile::Executor { name: name.unwrap_or_default().to_owned(), number };
    }
    result(value)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Message and stack, in the words of the results or of a report of version 3.
fn details(value: &Value) -> &Value {
    value.get("statusDetails").or(value.get("error")).unwrap_or(&Value::Null)
}

fn outcome(value: &Value) -> TestOutcome {
    match text(value, "status") {
        "passed" => TestOutcome::Passed,
        "failed" => TestOutcome::Failed,
        "skipped" => TestOutcome::Skipped,
        // A test without a status did not finish.
        _ => TestOutcome::Error,
    }
}

fn result(value: &Value) -> AllureFile {
    let labels: Vec<(&str, &str)> = value
        .get("labels")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|label| (text(label, "name"), text(label, "value")))
        .collect();
    let label =
        |name: &str| labels.iter().find(|(key, _)| *key == name).map(|(_, value)| *value).filter(|value| !value.is_empty());
    let suites: Vec<&str> = ["parentSuite", "suite", "subSuite"].iter().filter_map(|name| label(name)).collect();
    let suites = suites.join(" > ");
    let (full, name) = (text(value, "fullName"), text(value, "name"));
    let suite = label("testClass").or(label("package")).unwrap_or(&suites);
    let name = [name, label("testMethod").unwrap_or_default(), full].into_iter().find(|name| !name.trim().is_empty());
    let mut record = TestRecord::new(suite, name.unwrap_or_default(), outcome(value));
    if suite != suites {
        record.set("testsuite", suites.as_str());
    }
    record.set("full_name", full);
    let named = ["testClass", "package", "parentSuite", "suite", "subSuite", "testMethod", "thread"];
    for (key, value) in labels.iter().filter(|(key, _)| !named.contains(key)) {
        record.set(key, *value);
    }
    let parameters = value.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let mut own = Vec::new();
    for parameter in parameters {
        let shown = if matches!(text(parameter, "mode"), "masked" | "hidden") { "******" } else { text(parameter, "value") };
        let pair = format!("{}={shown}", text(parameter, "name"));
        record.set("parameters", pair.as_str());
        if parameter.get("excluded") != Some(&Value::Bool(true)) {
            own.push(pair);
        }
    }
    // Results with the same name but different parameters are different tests.
    if !own.is_empty() && !own.iter().all(|pair| record.name.contains(pair.split_once('=').map_or("", |(_, value)| value))) {
        let list = texts::one_line(&own.join(", "));
        record.name = format!("{} [{}]", record.name, &list[..cut::floor(&list, 120)]);
    }
    for link in value.get("links").and_then(Value::as_array).into_iter().flatten() {
        let kind = Some(text(link, "type")).filter(|kind| !kind.is_empty()).unwrap_or("link");
        record.set(kind, [text(link, "name"), text(link, "url")].into_iter().find(|text| !text.is_empty()));
    }
    record.set("description", text(value, "description"));
    let status = details(value);
    for flag in ["known", "muted", "flaky"] {
        if status.get(flag) == Some(&Value::Bool(true)) {
            record.set(flag, "true");
        }
    }
    fill(&mut record, value);
    let history = text(value, "historyId");
    let history = if history.is_empty() { record.full_name() } else { history.to_owned() };
    AllureFile::Result { history, record: Box::new(record) }
}

/// Reads a fixture; `None` if it did not fail.
fn fixture(value: &Value, suite: &str, kind: &str) -> Option<TestRecord> {
    let outcome = outcome(value);
    if !outcome.is_failure() || text(value, "status").is_empty() {
        return None;
    }
    let name = Some(text(value, "name")).filter(|name| !name.is_empty()).unwrap_or(kind);
    let mut record = TestRecord::fixture(suite, name);
    record.set("fixture", kind);
    fill(&mut record, value);
    Some(record)
}

/// Reads the time, error, log and attachments of a test or fixture.
fn fill(record: &mut TestRecord, value: &Value) {
    let time = |key| value.get(key).and_then(Value::as_i64).and_then(times::from_millis);
    (record.started_at, record.duration_s) = (time("start"), None);
    record.duration_s = record.started_at.zip(time("stop")).map(|(from, to)| to.seconds_since(from)).filter(|took| *took >= 0.0);
    if record.outcome.is_failure() {
        let details = details(value);
        record.error = error_text(text(details, "message"), text(details, "trace"));
        if text(value, "status").is_empty() && record.error.is_empty() {
            "the test began and did not end".clone_into(&mut record.error);
        }
        steps(value, 0, &mut record.log);
    }
    attachments(value, 0, record);
}

/// Writes the steps as log lines, with the messages of failed ones.
fn steps(value: &Value, depth: usize, log: &mut String) {
    for step in value.get("steps").and_then(Value::as_array).into_iter().flatten() {
        if depth > MAX_DEPTH || log.len() > MAX_TEXT[0] {
            return;
        }
        let status = text(step, "status");
        // Writing to a string cannot fail.
        writeln!(log, "{}{} [{status}]", "  ".repeat(depth), texts::one_line(text(step, "name"))).unwrap_or_default();
        let message = step.get("statusDetails").map_or("", |details| text(details, "message"));
        if !message.is_empty() && status != "passed" {
            writeln!(log, "{}{}", "  ".repeat(depth + 1), texts::one_line(message)).unwrap_or_default();
        }
        steps(step, depth + 1, log);
    }
}

fn attachments(value: &Value, depth: usize, record: &mut TestRecord) {
    let list = |name| value.get(name).and_then(Value::as_array).into_iter().flatten();
    for file in list("attachments") {
        let name = [text(file, "name"), text(file, "source")].into_iter().find(|name| !name.is_empty());
        record.set("attachments", name);
    }
    for step in list("steps").filter(|_| depth < MAX_DEPTH) {
        attachments(step, depth + 1, record);
    }
}

/// The files of one directory.
#[derive(Debug, Default)]
struct AllureLaunch {
    /// Attempts by history.
    results: BTreeMap<String, Vec<TestRecord>>,
    fixtures: Vec<TestRecord>,
    executor: Option<(String, Option<i64>)>,
    broken: Vec<(String, usize, String)>,
}

/// Allure files by their directories.
#[derive(Debug, Default)]
pub(super) struct AllureResults {
    launches: BTreeMap<String, AllureLaunch>,
    /// The bytes of texts held so far.
    held: usize,
    /// The number of valid files.
    valid_files: usize,
}

impl AllureResults {
    /// Whether no valid result or container was added.
    pub(super) fn is_empty(&self) -> bool {
        self.valid_files == 0
    }

    /// The number of launches (directories).
    pub(super) fn len(&self) -> usize {
        self.launches.len()
    }

    pub(super) fn add(&mut self, name: &str, file: AllureFile) {
        let dir = name.rsplit_once(['/', '\\']).map_or("", |(dir, _)| dir);
        self.valid_files += usize::from(!matches!(file, AllureFile::Broken(..) | AllureFile::Executor { .. }));
        let launch = self.launches.entry(dir.to_owned()).or_default();
        match file {
            AllureFile::Result { history, mut record } => {
                limit_texts(&mut record, &mut self.held);
                launch.results.entry(history).or_default().push(*record);
            }
            AllureFile::Container(fixtures) => {
                for mut record in fixtures {
                    limit_texts(&mut record, &mut self.held);
                    launch.fixtures.push(record);
                }
            }
            AllureFile::Executor { name, number } => launch.executor = Some((name, number)),
            AllureFile::Broken(line, what) => launch.broken.push((name.to_owned(), line, what)),
        }
    }

    /// Builds a launch for each directory.
    pub(super) fn into_parts(self, room: &TextRoom) -> Vec<InputPart> {
        self.launches.into_iter().map(|(dir, launch)| launch.part(&dir, room)).collect()
    }
}

/// Cuts the texts of a record to what the budget allows. Only failures keep attributes.
fn limit_texts(record: &mut TestRecord, held: &mut usize) {
    let most = if *held < HELD { MAX_TEXT[0] } else { MAX_TEXT[1] };
    for text in [&mut record.error, &mut record.log] {
        *text = cut::cut(std::mem::take(text), most).0;
        *held += text.len();
    }
    if !record.outcome.is_failure() {
        record.attributes = Attributes::default();
    }
}

impl AllureLaunch {
    fn part(self, dir: &str, room: &TextRoom) -> InputPart {
        let mut builder = LaunchBuilder::new(room, FORMAT.name);
        let mut hasher = Hasher::default();
        let mut tests = Vec::with_capacity(self.results.len());
        for (history, mut attempts) in self.results {
            attempts.sort_by_key(|record| record.started_at);
            hasher.update(history.as_bytes());
            for record in &attempts {
                hasher.update(&record.started_at.map_or(0, Timestamp::millis).to_le_bytes());
            }
            tests.push(attempts);
        }
        builder.launch().run_id = hasher.finish().short();
        tests.sort_by_cached_key(|attempts| {
            attempts.first().map(|record| (record.started_at, record.suite.clone(), record.name.clone()))
        });
        for attempts in tests {
            let count = attempts.len();
            for record in attempts {
                let ended = record.started_at.zip(record.duration_s).map(|(from, took)| times::later(from, took));
                builder.span(record.started_at, ended);
                if count == 1 {
                    builder.add(record);
                } else {
                    builder.attempt(record);
                }
            }
        }
        let mut fixtures = self.fixtures;
        fixtures.sort_by(|a, b| (a.started_at, &a.suite, &a.name).cmp(&(b.started_at, &b.suite, &b.name)));
        // A fixture shared by several tests is in the container of each.
        fixtures.dedup_by(|a, b| (&a.suite, &a.name, a.started_at, &a.error) == (&b.suite, &b.name, b.started_at, &b.error));
        for record in fixtures {
            builder.add(record);
        }
        if let Some((name, number)) = self.executor {
            (builder.launch().name, builder.launch().number) = (name, number);
        }
        let mut broken = self.broken;
        broken.sort();
        for (name, line, what) in broken {
            builder.launch().gap(format!("{name}:{line}: the result could not be read: {what}"));
        }
        let mut part = builder.finish(if dir.is_empty() { "allure-results" } else { dir });
        dir.clone_into(&mut part.name);
        part
    }
}
