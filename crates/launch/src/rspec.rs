//! Reads `RSpec`'s JSON (`--format json`).
//!
//! Errors outside of examples (a file that did not load) are a case.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "RSpec JSON",
    signs: &[
        FormatSign::Keys(&["examples.full_description", "examples.file_path"]),
        FormatSign::Keys(&["examples", "summary.example_count"]),
    ],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct RspecReport {
    examples: List<RspecExample>,
    messages: List<Text>,
    summary: Loose<RspecSummary>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RspecSummary {
    example_count: JsonNumber,
    failure_count: JsonNumber,
    #[serde(rename = "errors_outside_of_examples_count")]
    outside: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RspecExample {
    id: Text,
    description: Text,
    full_description: Text,
    status: Text,
    file_path: Text,
    line_number: JsonNumber,
    run_time: JsonNumber,
    exception: Loose<RspecException>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RspecException {
    class: Text,
    message: Text,
    backtrace: List<Text>,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: RspecReport, builder| {
        let outside = report.summary.outside.count();
        builder.declare(report.summary.failure_count.count().saturating_add(outside.min(1)));
        builder.declare_tests(report.summary.example_count.count());
        for example in &*report.examples {
            read_example(example, builder);
        }
        if outside > 0 {
            let mut record = TestRecord::fixture("", "outside of examples");
            record.set("fixture", "load");
            let messages =
                report.messages.iter().filter(|message| message.contains("rror") && !message.starts_with("\nFinished"));
            record.error = messages.map(|message| message.trim()).collect::<Vec<_>>().join("\n\n");
            if record.error.is_empty() {
                record.error = format!("{outside} errors outside of examples");
            }
            builder.add(record);
        }
    })
}

fn read_example(example: &RspecExample, builder: &mut LaunchBuilder) {
    let outcome = match &*example.status {
        "passed" => TestOutcome::Passed,
        "failed" => TestOutcome::Failed,
        "" => {
            builder.no_outcome(&example.full_description);
            return;
        }
        _ => TestOutcome::Skipped,
    };
    let suite = example.full_description.trim().strip_suffix(example.description.trim()).unwrap_or_default();
    let mut record = TestRecord::new(suite, &example.description, outcome);
    record.locate(example.file_path.trim_start_matches("./"), example.line_number.count());
    record.set("rspec_id", example.id.some());
    record.duration_s = example.run_time.seconds();
    if outcome.is_failure() {
        let exception = &example.exception;
        let is_plain = exception.class.contains("ExpectationNotMet") || exception.class.is_empty();
        let message = exception.message.trim();
        let message = if is_plain { message.to_owned() } else { format!("{}: {message}", &*exception.class) };
        record.set("failure_type", exception.class.some());
        record.error = error_text(&message, &exception.backtrace.joined("\n"));
    }
    builder.add(record);
}
