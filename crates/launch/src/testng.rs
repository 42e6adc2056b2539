//! Reads `TestNG`'s own results (`testng-results.xml`).
//!
//! Configuration methods are not tests; a failed one is a separate case. A retried method is one test.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::xml::{self, Element, Visitor};
use super::{InputPart, cut, texts, times};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::TestOutcome;
use asterisk_diag::{Diagnostic, Diagnostics};

/// The maximum bytes of parameters in a name.
const MAX_PARAMETERS: usize = 120;

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "TestNG", signs: &[FormatSign::Root("testng-results", &[])], is_json: false, read };

/// Reads a results file.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = TestngReader { builder: input.builder(), path: Vec::new() };
    let problems = xml::read(input.stream, input.source, &mut reader)?;
    Ok(reader.builder.finish_document(input.source.name(), problems))
}

struct TestngReader {
    builder: LaunchBuilder,
    /// The names of the open suites, tests and classes.
    path: Vec<String>,
}

impl Visitor for TestngReader {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        self.builder.declare(root.attribute("failed").and_then(|count| count.parse().ok()).unwrap_or(0));
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "testng-results" | "suite" | "test" | "class")
    }

    fn is_test(&self, name: &str) -> bool {
        name == "test-method"
    }

    fn has_failed(&self, test: &Element) -> bool {
        outcome(test).is_failure()
    }

    fn filter(&self, element: Element) -> Option<Element> {
        // The groups list every method again.
        (element.name != "method").then_some(element)
    }

    fn open(&mut self, suite: &Element) {
        let name = texts::one_line(suite.attribute("name").unwrap_or_default());
        if suite.name == "suite" {
            self.builder.span(time(suite, "started-at"), time(suite, "finished-at"));
            if self.builder.launch().name.is_empty() {
                self.builder.launch().name.clone_from(&name);
            }
        }
        self.path.push(name);
    }

    fn test(&mut self, test: &Element, class: &Element) {
        let is_configuration = test.attribute("is-config") == Some("true");
        let outcome = outcome(test);
        if is_configuration && !outcome.is_failure() {
            return;
        }
        let mut name = test.attribute("name").unwrap_or_default().to_owned();
        let parameters = test.children("params").flat_map(|list| list.children("param"));
        let parameters: Vec<String> = parameters.map(parameter).collect();
        if !parameters.is_empty() && !name.is_empty() {
            let list = texts::one_line(&parameters.join(", "));
            let more = if list.len() > MAX_PARAMETERS { "…" } else { "" };
            name = format!("{name}({}{more})", &list[..cut::floor(&list, MAX_PARAMETERS)]);
        }
        let package = class.attribute("package").filter(|package| *package != "[default]");
        let suite = class.attribute("name").unwrap_or_default();
        let suite = package.map_or_else(|| suite.to_owned(), |package| format!("{package}.{suite}"));
        let mut record = TestRecord::new(&suite, &name, outcome);
        record.started_at = time(test, "started-at");
        record.duration_s = test.attribute("duration-ms").and_then(times::seconds).map(|millis| millis / 1000.0);
        for value in &parameters {
            record.set("parameters", value.as_str());
        }
        record.set("groups", test.attribute("groups").map(|groups| groups.trim_matches(['[', ']'])));
        for (from, to) in [("description", "description"), ("test-instance-name", "instance"), ("data-provider", "data_provider")]
        {
            record.set(to, test.attribute(from));
        }
        if is_configuration {
            record.set("fixture", "configuration");
            record.is_test = false;
        }
        record.set("testsuite", self.path.get(2).map(String::as_str));
        for exception in test.children("exception") {
            record.set("failure_type", exception.attribute("class"));
        }
        record.error = test.children("exception").map(exception_text).collect::<Vec<_>>().join("\n\n");
        let lines = test.children("reporter-output").flat_map(|output| output.children("line"));
        record.log = lines.map(|line| line.text.trim()).collect::<Vec<_>>().join("\n");
        if test.attribute("retried") == Some("true") || self.builder.is_tried(&record) {
            self.builder.attempt(record);
        } else {
            self.builder.add(record);
        }
    }

    fn close(&mut self, _: &Element) {
        self.path.pop();
    }
}

/// The outcome of a method. A retried one is marked as skipped, but it failed.
fn outcome(test: &Element) -> TestOutcome {
    match test.attribute("status").unwrap_or_default() {
        _ if test.attribute("retried") == Some("true") => TestOutcome::Failed,
        "FAIL" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => TestOutcome::Passed,
    }
}

fn parameter(element: &Element) -> String {
    match element.child("value") {
        Some(value) if value.attribute("is-null") == Some("true") => "null".to_owned(),
        Some(value) => value.text.trim().to_owned(),
        None => String::new(),
    }
}

fn exception_text(exception: &Element) -> String {
    let kind = exception.attribute("class").unwrap_or_default();
    let stack =
        ["full-stacktrace", "short-stacktrace"].iter().find_map(|name| exception.child(name)).map_or("", |s| s.text.as_str());
    match exception.text_of("message") {
        _ if stack.trim_start().starts_with(kind) && !kind.is_empty() => stack.trim().to_owned(),
        "" => error_text(kind, stack),
        message => error_text(&format!("{kind}: {message}"), stack),
    }
}

/// Parses a time, ignoring a zone name.
fn time(element: &Element, name: &str) -> Option<Timestamp> {
    let text = element.attribute(name)?;
    times::parse(text).or_else(|| times::parse(text.split_once(' ').filter(|_| text.contains('T'))?.0))
}
