//! `NUnit` results: version 3 (`test-run`) and version 2 (`test-results`).
//!
//! A fixture whose set-up or tear-down failed is a case of its own; one that failed because of its tests is none.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::xml::{self, Element, Visitor};
use super::{InputPart, times};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::TestOutcome;
use asterisk_diag::{Diagnostic, Diagnostics};

/// Its row in the table.
pub(super) static FORMAT_2: FormatRow =
    FormatRow { name: "NUnit 2", signs: &[FormatSign::Root("test-results", &[])], is_json: false, read };

/// Its row in the table.
pub(super) static FORMAT_3: FormatRow =
    FormatRow { name: "NUnit 3", signs: &[FormatSign::Root("test-run", &[])], is_json: false, read };

/// Reads a results file of either version.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = NunitReader { builder: input.builder(), fixtures: Vec::new() };
    let problems = xml::read(input.stream, input.source, &mut reader)?;
    Ok(reader.builder.finish_document(input.source.name(), problems))
}

struct NunitReader {
    builder: LaunchBuilder,
    /// The names of the open suites, each with the name of the innermost enclosing fixture or namespace.
    fixtures: Vec<String>,
}

impl Visitor for NunitReader {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        let name = root.attribute("name").unwrap_or_default();
        name.rsplit(['/', '\\']).next().unwrap_or_default().clone_into(&mut self.builder.launch().name);
        let count = |name| root.attribute(name).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
        let failed =
            if root.name == "test-results" { count("errors").saturating_add(count("failures")) } else { count("failed") };
        self.builder.declare(failed);
        let began =
            root.attribute("date").zip(root.attribute("time")).and_then(|(date, time)| times::parse(&format!("{date} {time}")));
        let (from, to) = span(root);
        self.builder.span(from.or(began), to);
        self.builder.set("clr-version", root.attribute("clr-version"));
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "test-run" | "test-results" | "test-suite" | "results")
    }

    fn is_test(&self, name: &str) -> bool {
        name == "test-case"
    }

    fn has_failed(&self, test: &Element) -> bool {
        outcome(test).is_failure()
    }

    fn open(&mut self, suite: &Element) {
        if suite.name == "test-suite" {
            let outer = self.fixtures.last().map_or("", String::as_str);
            let name = suite.attribute("fullname").or(suite.attribute("name")).unwrap_or_default();
            let kind = suite.attribute("type").unwrap_or("TestFixture");
            // Assemblies, theories and parameterized tests are not part of a class name; version 2 names namespaces part by part.
            let name = match kind {
                "Assembly"
                | "Project"
                | "Test Project"
                | "TestSuite"
                | "ParameterizedMethod"
                | "ParameterizedTest"
                | "Theory"
                | "GenericMethod" => outer.to_owned(),
                _ if outer.is_empty() || suite.attribute("fullname").is_some() || name.starts_with(outer) => name.to_owned(),
                _ => format!("{outer}.{name}"),
            };
            self.fixtures.push(name);
        }
    }

    fn test(&mut self, test: &Element, _: &Element) {
        let outcome = outcome(test);
        let full = test.attribute("fullname").or(test.attribute("name")).unwrap_or_default();
        let fixture = self.fixtures.last().map_or("", String::as_str);
        let class = test.attribute("classname").unwrap_or(fixture);
        let own = full.strip_prefix(class).and_then(|rest| rest.strip_prefix('.')).filter(|rest| !rest.is_empty());
        let (class, name) = match own {
            Some(own) => (class, own),
            None if test.attribute("classname").is_some() => (class, test.attribute("name").unwrap_or(full)),
            None => split(full, class),
        };
        let mut record = TestRecord::new(class, name, outcome);
        (record.started_at, _) = span(test);
        record.duration_s = ["duration", "time"].iter().find_map(|name| test.attribute(name).and_then(times::seconds));
        fill(&mut record, test);
        self.builder.add(record);
    }

    fn close(&mut self, suite: &Element) {
        if let Some(environment) = suite.child("environment") {
            for (name, value) in &environment.attributes {
                if !matches!(name.as_str(), "cwd" | "user" | "user-domain") {
                    self.builder.set(name, value.as_str());
                }
            }
        }
        if suite.name != "test-suite" {
            return;
        }
        let fixture = self.fixtures.pop().unwrap_or_default();
        let message = suite.child("failure").map_or("", |failure| failure.text_of("message"));
        let of_others = ["One or more child tests had", "Child test failed", "One or more tests"];
        let site = suite.attribute("site").unwrap_or_default();
        if message.is_empty() || of_others.iter().any(|start| message.starts_with(start)) || matches!(site, "Child" | "Parent") {
            return;
        }
        if !matches!(suite.attribute("result"), Some("Failed" | "Failure" | "Error" | "NotRunnable" | "Invalid")) {
            return;
        }
        let own = suite.attribute("name").unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
        let name = if fixture.is_empty() { own } else { &fixture };
        let part = match site {
            "SetUp" => "OneTimeSetUp",
            "TearDown" => "OneTimeTearDown",
            _ if message.starts_with("SetUp") => "OneTimeSetUp",
            _ if message.starts_with("TearDown") => "OneTimeTearDown",
            _ => "fixture",
        };
        let mut record = TestRecord::fixture(name, part);
        (record.started_at, _) = span(suite);
        record.set("fixture", part);
        fill(&mut record, suite);
        self.builder.add(record);
    }
}

/// The outcome of a test: by `result` and, in version 3, `label`; old files of version 2 have `success`.
fn outcome(test: &Element) -> TestOutcome {
    match (test.attribute("result").unwrap_or_default(), test.attribute("label")) {
        ("Failed", Some("Error" | "Invalid" | "Cancelled")) | ("Error" | "NotRunnable" | "Cancelled" | "Invalid", _) => {
            TestOutcome::Error
        }
        ("Failed" | "Failure", _) => TestOutcome::Failed,
        ("Skipped" | "Ignored" | "Inconclusive", _) => TestOutcome::Skipped,
        ("Passed" | "Success" | "Warning", _) => TestOutcome::Passed,
        _ if test.attribute("executed").is_some_and(|ran| ran.eq_ignore_ascii_case("false")) => TestOutcome::Skipped,
        _ if test.attribute("success").is_some_and(|passed| passed.eq_ignore_ascii_case("false")) => TestOutcome::Failed,
        _ if test.child("failure").is_some() => TestOutcome::Failed,
        _ => TestOutcome::Passed,
    }
}

/// Splits a full name into class and name; dots within parameters do not count.
fn split<'n>(full: &'n str, fixture: &'n str) -> (&'n str, &'n str) {
    let end = full.find('(').unwrap_or(full.len());
    match full[..end].rfind('.') {
        Some(at) if at > 0 && at + 1 < full.len() => (&full[..at], &full[at + 1..]),
        _ => (fixture, full),
    }
}

fn span(element: &Element) -> (Option<Timestamp>, Option<Timestamp>) {
    let time = |name| element.attribute(name).and_then(times::parse);
    (time("start-time"), time("end-time"))
}

/// Reads the error, output and attributes of a test or a fixture.
fn fill(record: &mut TestRecord, element: &Element) {
    let failures = element.children("failure");
    let asserts = element.children("assertions").flat_map(|all| all.children("assertion"));
    let text = |failure: &Element| {
        error_text(failure.text_of("message"), failure.child("stack-trace").map_or("", |stack| stack.text.as_str()))
    };
    let mut texts: Vec<String> = failures.map(text).collect();
    if texts.iter().all(String::is_empty) {
        texts = asserts.map(text).collect();
    }
    record.error = texts.join("\n\n");
    element.text_of("output").clone_into(&mut record.log);
    record.set("label", element.attribute("label"));
    record.set("failure_site", element.attribute("site").filter(|site| *site != "Test"));
    for property in element.children("properties").flat_map(|list| list.children("property")) {
        let name = property.attribute("name").unwrap_or_default();
        if !name.starts_with('_') {
            let name = if name == "Category" { "category" } else { name };
            record.set(name, property.attribute("value"));
        }
    }
    for category in element.children("categories").flat_map(|list| list.children("category")) {
        record.set("category", category.attribute("name"));
    }
    for file in element.children("attachments").flat_map(|list| list.children("attachment")) {
        record.set("attachments", file.text_of("filePath").rsplit(['/', '\\']).next());
    }
}
