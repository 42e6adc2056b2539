//! Reads xUnit.net results: the XML of versions 1 to 3 (`assemblies`, or one `assembly`).
//!
//! A failure outside of a test (the clean-up of a class, a collection or an assembly) is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::xml::{self, Element, Visitor};
use super::{InputPart, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::{Diagnostic, Diagnostics};

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "xUnit.net",
    signs: &[
        FormatSign::Root("assemblies", &[]),
        // Maven also has assemblies.
        FormatSign::Root("assembly", &["total|run-date|test-framework"]),
    ],
    is_json: false,
    read,
};

/// Reads a results file.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = XunitReader { builder: input.builder(), assemblies: Vec::new() };
    let problems = xml::read(input.stream, input.source, &mut reader)?;
    reader.builder.launch().name = reader.assemblies.join(", ");
    Ok(reader.builder.finish_document(input.source.name(), problems))
}

struct XunitReader {
    builder: LaunchBuilder,
    /// The names of the first five assemblies, for the launch's name.
    assemblies: Vec<String>,
}

impl Visitor for XunitReader {
    fn root(&mut self, _: &Element) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "assemblies" | "assembly" | "collection" | "class")
    }

    fn is_test(&self, name: &str) -> bool {
        name == "test"
    }

    fn has_failed(&self, test: &Element) -> bool {
        outcome(test).is_failure()
    }

    fn open(&mut self, suite: &Element) {
        if suite.name != "assembly" {
            return;
        }
        let name = suite.attribute("name").unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
        if self.assemblies.len() < 5 && !name.is_empty() {
            self.assemblies.push(texts::one_line(name));
        }
        let count = |name| suite.attribute(name).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
        self.builder.declare(count("failed").saturating_add(count("errors")));
        let began = suite
            .attribute("start-rtf")
            .and_then(times::parse)
            .or_else(|| times::parse(&format!("{} {}", suite.attribute("run-date")?, suite.attribute("run-time")?)));
        let took = suite.attribute("time").and_then(times::seconds);
        let ended = suite.attribute("finish-rtf").and_then(times::parse);
        self.builder.span(began, ended.or_else(|| Some(times::later(began?, took?))));
        for name in ["environment", "test-framework", "target-framework"] {
            self.builder.set(name, suite.attribute(name));
        }
    }

    fn test(&mut self, test: &Element, _: &Element) {
        let class = test.attribute("type").unwrap_or_default();
        let display = test.attribute("name").or(test.attribute("method")).unwrap_or_default();
        let name = display.strip_prefix(class).and_then(|rest| rest.strip_prefix('.')).filter(|rest| !rest.is_empty());
        let mut record = TestRecord::new(class, name.unwrap_or(display), outcome(test));
        record.duration_s = test.attribute("time").and_then(times::seconds);
        record.started_at = test.attribute("start-rtf").and_then(times::parse);
        record.file = test.attribute("source-file").map(str::to_owned);
        record.set("line", test.attribute("source-line"));
        fill(&mut record, test);
        self.builder.add(record);
    }

    fn close(&mut self, suite: &Element) {
        let assembly = suite.attribute("name").unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
        for error in suite.children("errors").flat_map(|errors| errors.children("error")) {
            let kind = error.attribute("type").unwrap_or("error");
            let suite = error.attribute("name").unwrap_or(assembly);
            let mut record = TestRecord::fixture(suite, kind);
            record.set("fixture", kind);
            fill(&mut record, error);
            self.builder.add(record);
        }
        if let Some(failure) = suite.child("failure") {
            let mut record = TestRecord::fixture(suite.attribute("name").unwrap_or_default(), "class");
            record.set("fixture", "class");
            record.error = failure_text(failure);
            self.builder.add(record);
        }
    }
}

fn outcome(test: &Element) -> TestOutcome {
    match test.attribute("result").unwrap_or_default() {
        "Fail" => TestOutcome::Failed,
        "Skip" | "NotRun" => TestOutcome::Skipped,
        "Pass" => TestOutcome::Passed,
        _ if test.child("failure").is_some() => TestOutcome::Failed,
        _ if test.child("reason").is_some() => TestOutcome::Skipped,
        _ => TestOutcome::Passed,
    }
}

/// Message and stack trace of a failure, after the type of its exception if the message does not name it.
fn failure_text(failure: &Element) -> String {
    let stack = failure.child("stack-trace").map_or("", |stack| stack.text.as_str());
    let message = failure.text_of("message");
    match failure.attribute("exception-type") {
        Some(kind) if message.is_empty() => error_text(kind, stack),
        Some(kind) if !message.contains(kind.rsplit('.').next().unwrap_or(kind)) && !is_assertion(kind) => {
            error_text(&format!("{kind} : {message}"), stack)
        }
        _ => error_text(message, stack),
    }
}

/// Whether an exception is one of xunit's own, whose messages are sufficient.
fn is_assertion(kind: &str) -> bool {
    kind.starts_with("Xunit.")
}

fn fill(record: &mut TestRecord, element: &Element) {
    let failures: Vec<&Element> = element.children("failure").collect();
    for failure in &failures {
        record.set("failure_type", failure.attribute("exception-type"));
    }
    record.error = failures.into_iter().map(failure_text).collect::<Vec<_>>().join("\n\n");
    let warnings = element.children("warnings").flat_map(|list| list.children("warning")).map(|warning| warning.text.trim());
    let log: Vec<&str> = std::iter::once(element.text_of("output")).chain(warnings).filter(|text| !text.is_empty()).collect();
    record.log = log.join("\n");
    for category in element.children("traits").flat_map(|list| list.children("trait")) {
        let name = category.attribute("name").unwrap_or_default();
        record.set(if name == "Category" { "category" } else { name }, category.attribute("value"));
    }
    for file in element.children("attachments").flat_map(|list| list.children("attachment")) {
        record.set("attachments", file.attribute("name"));
    }
}
