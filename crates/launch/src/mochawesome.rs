//! Reads mochawesome's JSON: the suites of a Mocha run as a tree. A failed hook is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::mocha::MochaStats;
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "mochawesome JSON",
    signs: &[FormatSign::Keys(&["stats.passes", "results.suites|results.tests|meta.mochawesome"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochawesomeReport {
    stats: Loose<MochaStats>,
    results: List<MochawesomeSuite>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MochawesomeSuite {
    title: Text,
    file: Text,
    full_file: Text,
    before_hooks: List<MochawesomeTest>,
    after_hooks: List<MochawesomeTest>,
    tests: List<MochawesomeTest>,
    suites: List<Self>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochawesomeTest {
    title: Text,
    duration: JsonNumber,
    state: Text,
    pass: Loose<bool>,
    fail: Loose<bool>,
    pending: Loose<bool>,
    skipped: Loose<bool>,
    err: Loose<MochawesomeError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochawesomeError {
    message: Text,
    estack: Text,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: MochawesomeReport, builder| {
        builder.span(report.stats.start.time(), report.stats.end.time());
        builder.declare(report.stats.failures.count());
        builder.declare_tests(report.stats.tests.count());
        for suite in report.results {
            read_suite(suite, "", "", builder);
        }
    })
}

/// Reads a suite and those in it; the depth of both is that of the JSON.
fn read_suite(suite: MochawesomeSuite, outer: &str, outer_file: &str, builder: &mut LaunchBuilder) {
    let title = suite.title.trim();
    let path = if outer.is_empty() || title.is_empty() { format!("{outer}{title}") } else { format!("{outer} {title}") };
    let file = suite.full_file.some().or(suite.file.some()).unwrap_or(outer_file);
    for hook in suite.before_hooks.iter().chain(&*suite.after_hooks).filter(|hook| hook.fail.0 || &*hook.state == "failed") {
        let mut record = TestRecord::fixture(&path, &hook.title);
        record.set("fixture", "hook");
        fill(&mut record, hook, file);
        builder.add(record);
    }
    for test in &*suite.tests {
        let outcome = match &*test.state {
            "failed" => TestOutcome::Failed,
            "passed" => TestOutcome::Passed,
            "pending" => TestOutcome::Skipped,
            _ if test.fail.0 => TestOutcome::Failed,
            _ if test.pass.0 => TestOutcome::Passed,
            // A failed hook skips its tests.
            _ if test.pending.0 || test.skipped.0 => TestOutcome::Skipped,
            _ => {
                builder.no_outcome(&test.title);
                continue;
            }
        };
        let mut record = TestRecord::new(&path, &test.title, outcome);
        fill(&mut record, test, file);
        builder.add(record);
    }
    for inner in suite.suites {
        read_suite(inner, &path, file, builder);
    }
}

fn fill(record: &mut TestRecord, test: &MochawesomeTest, file: &str) {
    record.locate(file, 0);
    record.duration_s = test.duration.millis();
    if record.outcome.is_failure() {
        // The stack has the message, perhaps with a code after the type.
        let message = test.err.message.split_once(": ").map_or(&*test.err.message, |(_, message)| message);
        let is_repeated = test.err.estack.contains(message);
        record.error = error_text(if is_repeated { "" } else { &test.err.message }, &test.err.estack);
    }
}
