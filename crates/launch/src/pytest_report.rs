//! Reads the report of pytest-json-report.
//!
//! A test whose set-up or tear-down failed is an error. A file that could not be collected is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::TestRecord;
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "pytest-json-report",
    signs: &[FormatSign::Keys(&["exitcode", "tests|collectors|summary.collected"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestReport {
    created: JsonNumber,
    duration: JsonNumber,
    exitcode: JsonNumber,
    summary: Loose<PytestSummary>,
    collectors: List<PytestCollector>,
    tests: List<PytestTest>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestSummary {
    failed: JsonNumber,
    error: JsonNumber,
    total: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestCollector {
    nodeid: Text,
    outcome: Text,
    longrepr: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestTest {
    nodeid: Text,
    lineno: Option<JsonNumber>,
    outcome: Text,
    setup: Loose<PytestStage>,
    call: Loose<PytestStage>,
    teardown: Loose<PytestStage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestStage {
    outcome: Text,
    duration: JsonNumber,
    longrepr: Text,
    stdout: Text,
    stderr: Text,
}

/// A node of pytest's tree: `tests/test_a.py::TestClass::test_name[parameters]`.
pub(super) struct PytestNode<'n> {
    pub(super) file: &'n str,
    /// As in pytest's JUnit: `tests.test_a.TestClass`.
    pub(super) suite: String,
    /// The name with its parameters; empty if the node is a file.
    pub(super) name: &'n str,
}

impl<'n> PytestNode<'n> {
    pub(super) fn new(id: &'n str) -> Self {
        let path = &id[..id.find('[').unwrap_or(id.len())];
        let (outer, name) = path.rfind("::").map_or((id, ""), |at| (&id[..at], &id[at + 2..]));
        let (file, classes) = outer.split_once("::").unwrap_or((outer, ""));
        let module = file.strip_suffix(".py").unwrap_or(file).replace(['/', '\\'], ".");
        let suite = if classes.is_empty() { module } else { format!("{module}.{}", classes.replace("::", ".")) };
        Self { file, suite, name }
    }

    /// The record of the test.
    pub(super) fn record(&self, outcome: TestOutcome) -> TestRecord {
        let mut record = TestRecord::new(&self.suite, self.name, outcome);
        record.locate(self.file, 0);
        record
    }

    /// The case of a node that could not be collected, called after its file.
    pub(super) fn collection(id: &'n str, error: &str) -> TestRecord {
        let mut record = TestRecord::fixture("", id);
        record.set("fixture", "collection");
        record.locate(Self::new(id).file, 0);
        error.clone_into(&mut record.error);
        record
    }
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: PytestReport, builder| {
        let began = report.created.seconds().map(|at| at - report.duration.seconds().unwrap_or(0.0));
        let began = began.and_then(|at| times::parse(&format!("{:.0}", at * 1000.0)));
        builder.span(began, began.zip(report.duration.seconds()).map(|(from, took)| times::later(from, took)));
        builder.declare(report.summary.failed.count().saturating_add(report.summary.error.count()));
        builder.declare_tests(report.summary.total.count());
        builder.declare_failed(report.exitcode.count() > 0 && report.exitcode.count() != 5);
        for node in &*report.collectors {
            if &*node.outcome == "failed" {
                builder.add(PytestNode::collection(&node.nodeid, &node.longrepr));
            }
        }
        for test in &*report.tests {
            let stages = [&*test.setup, &*test.call, &*test.teardown];
            let Some(outcome) = outcome(test) else {
                builder.no_outcome(&test.nodeid);
                continue;
            };
            let mut record = PytestNode::new(&test.nodeid).record(outcome);
            if let Some(line) = test.lineno {
                // Lines are counted from 0.
                record.set("line", line.count().saturating_add(1).to_string().as_str());
            }
            record.duration_s = Some(stages.iter().filter_map(|stage| stage.duration.seconds()).sum());
            if outcome.is_failure() {
                let failed = stages.iter().filter(|stage| &*stage.outcome == "failed").map(|stage| stage.longrepr.trim_end());
                record.error = failed.collect::<Vec<_>>().join("\n\n");
                record.log = stages.iter().flat_map(|stage| [&*stage.stdout, &*stage.stderr]).collect();
            }
            builder.add(record);
        }
    })
}

fn outcome(test: &PytestTest) -> Option<TestOutcome> {
    Some(match &*test.outcome {
        "passed" | "xpassed" => TestOutcome::Passed,
        "error" => TestOutcome::Error,
        "rerun" if &*test.call.outcome == "passed" => TestOutcome::Flaky,
        "failed" | "rerun" => TestOutcome::Failed,
        "" => return None,
        _ => TestOutcome::Skipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_as_in_junit() {
        for (id, suite, name) in [
            ("tests/test_a.py::TestB::test_c[x::y]", "tests.test_a.TestB", "test_c[x::y]"),
            ("test_a.py::test_c", "test_a", "test_c"),
            ("test_a.py", "test_a", ""),
            ("", "", ""),
        ] {
            let node = PytestNode::new(id);
            assert_eq!((node.suite.as_str(), node.name), (suite, name), "{id}");
        }
    }
}
