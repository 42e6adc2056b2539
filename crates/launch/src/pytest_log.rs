//! Reads the stream of pytest-reportlog: set-up, call and tear-down of each test, one per line.
//!
//! A test that ran again is another attempt. A file that could not be collected, and a test that began and did not end, are cases.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Loose, Text};
use super::pytest_report::PytestNode;
use super::{InputPart, json_events, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "pytest-reportlog",
    signs: &[FormatSign::Event(|line| line.get("$report_type").is_some_and(Value::is_string))],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct LogEvent {
    #[serde(rename = "$report_type")]
    kind: Text,
    nodeid: Text,
    outcome: Text,
    when: Text,
    duration: JsonNumber,
    start: JsonNumber,
    longrepr: LongRepr,
    sections: Option<Vec<(Text, Text)>>,
    #[serde(deserialize_with = "line_of")]
    location: JsonNumber,
    exitstatus: JsonNumber,
}

/// The failure of a stage.
#[derive(Deserialize)]
#[serde(untagged)]
enum LongRepr {
    Text(String),
    PytestTrace(PytestTrace),
    Other(IgnoredAny),
}

impl Default for LongRepr {
    fn default() -> Self {
        Self::Other(IgnoredAny)
    }
}

#[derive(Deserialize)]
struct PytestTrace {
    reprtraceback: Loose<TraceEntries>,
    /// The failures from which this one came, with what pytest says between them.
    #[serde(default)]
    chain: Vec<(Loose<TraceEntries>, IgnoredAny, Text)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TraceEntries {
    reprentries: List<Entry>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    data: Loose<EntryData>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EntryData {
    lines: List<Text>,
    reprfileloc: Loose<Place>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Place {
    path: Text,
    lineno: Text,
    message: Text,
}

/// The line of a test: the second of three values, from 0.
fn line_of<'de, D: serde::Deserializer<'de>>(json: D) -> Result<JsonNumber, D::Error> {
    let location = Option::<(IgnoredAny, JsonNumber, IgnoredAny)>::deserialize(json)?;
    Ok(location.map(|(_, line, _)| line).unwrap_or_default())
}

impl LongRepr {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::PytestTrace(trace) if trace.chain.is_empty() => trace.reprtraceback.text(),
            Self::PytestTrace(trace) => {
                let parts = trace.chain.iter().flat_map(|(entries, _, between)| [entries.text(), between.to_string()]);
                parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
            }
            Self::Other(_) => String::new(),
        }
    }
}

impl TraceEntries {
    fn text(&self) -> String {
        let entry = |entry: &Entry| {
            let lines: Vec<&str> = entry.data.lines.iter().map(|line| &**line).collect();
            let place = &entry.data.reprfileloc;
            format!("{}\n\n{}:{}: {}", lines.join("\n"), &*place.path, &*place.lineno, &*place.message)
        };
        self.reprentries.iter().map(entry).collect::<Vec<_>>().join("\n\n")
    }
}

/// A test whose tear-down has not ended.
#[derive(Default)]
struct LogTest {
    line: u64,
    outcome: Option<TestOutcome>,
    start: JsonNumber,
    duration_s: f64,
    errors: Vec<String>,
    log: String,
}

#[derive(Default)]
struct PytestLogReader {
    running: BTreeMap<String, LogTest>,
    has_ended: bool,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut builder = input.builder();
    let mut reader = PytestLogReader::default();
    let cut = json_events::read(input.stream, &mut builder, |event, builder| reader.event(&event, builder))?;
    if cut.is_some() || !reader.has_ended {
        builder.cut_off("the file is cut off before the session ends".to_owned());
    }
    for (id, test) in std::mem::take(&mut reader.running) {
        let mut record = test.record(&id, TestOutcome::Error);
        if record.error.is_empty() {
            "the test began and did not end".clone_into(&mut record.error);
        }
        builder.attempt(record);
    }
    Ok(builder.finish(input.source.name()))
}

impl PytestLogReader {
    fn event(&mut self, event: &LogEvent, builder: &mut LaunchBuilder) {
        match &*event.kind {
            "CollectReport" if &*event.outcome == "failed" => {
                builder.add(PytestNode::collection(&event.nodeid, &event.longrepr.text()));
            }
            "TestReport" => self.stage(event, builder),
            "SessionFinish" => {
                self.has_ended = true;
                builder.declare_failed(event.exitstatus.count() > 0 && event.exitstatus.count() != 5);
            }
            _ => {}
        }
    }

    fn stage(&mut self, event: &LogEvent, builder: &mut LaunchBuilder) {
        let test = self.running.entry(event.nodeid.to_string()).or_default();
        if &*event.when == "setup" {
            *test = LogTest { start: event.start, line: event.location.count().saturating_add(1), ..LogTest::default() };
        }
        test.duration_s += event.duration.seconds().unwrap_or(0.0);
        let is_call = &*event.when == "call";
        let outcome = match &*event.outcome {
            "failed" | "rerun" if is_call => Some(TestOutcome::Failed),
            "failed" | "rerun" => Some(TestOutcome::Error),
            "skipped" => Some(TestOutcome::Skipped),
            "passed" if is_call => Some(TestOutcome::Passed),
            _ => None,
        };
        if outcome.is_some_and(TestOutcome::is_failure) {
            test.errors.push(event.longrepr.text());
        }
        let is_worse = !test.outcome.is_some_and(TestOutcome::is_failure);
        test.outcome = if is_worse { outcome.or(test.outcome) } else { test.outcome };
        // Each stage repeats the output of those before it.
        if let Some(sections) = &event.sections {
            let parts: Vec<String> =
                sections.iter().map(|(title, text)| format!("--- {}\n{}\n", &**title, text.trim_end())).collect();
            test.log = parts.concat();
        }
        if &*event.when == "teardown" || &*event.outcome == "rerun" {
            let Some(test) = self.running.remove(&*event.nodeid) else { return };
            if let Some(outcome) = test.outcome {
                builder.attempt(test.record(&event.nodeid, outcome));
            } else if &*event.outcome != "passed" {
                builder.no_outcome(&event.nodeid);
            }
        }
    }
}

impl LogTest {
    fn record(self, id: &str, outcome: TestOutcome) -> TestRecord {
        let mut record = PytestNode::new(id).record(outcome);
        record.set("line", self.line.to_string().as_str());
        record.started_at = self.start.seconds().and_then(|at| times::parse(&format!("{:.0}", at * 1000.0)));
        record.duration_s = Some(self.duration_s);
        if outcome.is_failure() {
            record.error = self.errors.join("\n\n");
            record.log = self.log;
        }
        record
    }
}
