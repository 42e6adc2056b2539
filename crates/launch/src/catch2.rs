//! Reads Catch2's XML (`--reporter xml`), versions 2 and 3.
//!
//! The expressions of a failed test with their sections become its error.

use super::InputPart;
use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::times;
use super::xml::{self, Element, Visitor};
use asterisk_base::model::TestOutcome;
use asterisk_diag::{Diagnostic, Diagnostics};
use std::fmt::Write as _;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Catch2 XML",
    signs: &[FormatSign::Root("Catch", &[]), FormatSign::Root("Catch2TestRun", &[])],
    is_json: false,
    read,
};

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = CatchReader { builder: input.builder(), program: String::new() };
    let problems = xml::read(input.stream, input.source, &mut reader)?;
    Ok(reader.builder.finish_document(input.source.name(), problems))
}

struct CatchReader {
    builder: LaunchBuilder,
    /// The name of the program, which is the suite of its tests.
    program: String,
}

impl Visitor for CatchReader {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        root.attribute("name").unwrap_or_default().clone_into(&mut self.program);
        self.builder.launch().name.clone_from(&self.program);
        self.builder.set("catch2_version", root.attribute("catch2-version"));
        self.builder.set("seed", root.attribute("rng-seed"));
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "Catch" | "Catch2TestRun" | "Group")
    }

    fn is_test(&self, name: &str) -> bool {
        name == "TestCase"
    }

    fn has_failed(&self, test: &Element) -> bool {
        failures(test, "", &mut String::new()).is_some()
    }

    fn test(&mut self, test: &Element, _: &Element) {
        let Some(result) = test.child("OverallResult") else {
            let mut record = self.record(test, TestOutcome::Error);
            record.error.push_str("\nthe test began and did not end");
            self.builder.add(record);
            return;
        };
        let outcome = match result.attribute("success") {
            Some("false") => TestOutcome::Failed,
            _ if is_skipped(test) => TestOutcome::Skipped,
            _ => TestOutcome::Passed,
        };
        let mut record = self.record(test, outcome);
        record.duration_s = result.attribute("durationInSeconds").and_then(times::seconds);
        if outcome.is_failure() {
            let printed = format!("{}\n{}", result.text_of("StdOut"), result.text_of("StdErr"));
            printed.trim().clone_into(&mut record.log);
        }
        self.builder.add(record);
    }

    fn close(&mut self, suite: &Element) {
        if matches!(suite.name.as_str(), "Catch" | "Catch2TestRun") {
            let cases = suite.child("OverallResultsCases");
            let failed = cases.and_then(|cases| cases.attribute("failures")?.parse().ok());
            self.builder.declare(failed.unwrap_or(0));
        }
    }
}

impl CatchReader {
    fn record(&self, test: &Element, outcome: TestOutcome) -> TestRecord {
        let mut record = TestRecord::new(&self.program, test.attribute("name").unwrap_or_default(), outcome);
        let line = |element: &Element| element.attribute("line").and_then(|line| line.parse().ok()).unwrap_or(0);
        let mut error = String::new();
        let place = if outcome.is_failure() { failures(test, "", &mut error).unwrap_or(test) } else { test };
        record.locate(place.attribute("filename").or(test.attribute("filename")).unwrap_or_default(), line(place));
        error.trim_end().clone_into(&mut record.error);
        for tag in test.attribute("tags").unwrap_or_default().split(['[', ']']).filter(|tag| !tag.is_empty()) {
            record.set("tag", tag);
        }
        record
    }
}

fn is_skipped(element: &Element) -> bool {
    element.child("Skip").is_some() || element.children("Section").any(is_skipped)
}

/// Writes what failed in a test or section. Returns the first failure, which has a place.
fn failures<'e>(element: &'e Element, path: &str, error: &mut String) -> Option<&'e Element> {
    let mut first = None;
    let mut infos = Vec::new();
    for child in &element.children {
        let at =
            || format!("{}:{}", child.attribute("filename").unwrap_or_default(), child.attribute("line").unwrap_or_default());
        let shown = match child.name.as_str() {
            "Info" | "Warning" => {
                infos.push(child.text.trim());
                continue;
            }
            "Section" => {
                let name = child.attribute("name").unwrap_or_default();
                let inner = if path.is_empty() { name.to_owned() } else { format!("{path} / {name}") };
                first = first.or(failures(child, &inner, error));
                continue;
            }
            "Expression" if child.attribute("success") == Some("false") => expression(child, &at()),
            "Failure" => format!("{}: FAILED:\n{}", at(), child.text.trim()),
            "Exception" => format!("{}: unexpected exception: {}", at(), child.text.trim()),
            "FatalErrorCondition" => format!("{}: fatal error: {}", at(), child.text.trim()),
            _ => continue,
        };
        let section = if path.is_empty() { String::new() } else { format!("{path}\n") };
        // Writing to a string cannot fail.
        write!(error, "{section}{shown}").unwrap_or_default();
        for info in infos.drain(..) {
            write!(error, "\n  with: {info}").unwrap_or_default();
        }
        error.push_str("\n\n");
        first = first.or(Some(child));
    }
    first
}

fn expression(expression: &Element, at: &str) -> String {
    let (kind, original) = (expression.attribute("type").unwrap_or_default(), expression.text_of("Original"));
    let mut text = format!("{at}: FAILED:\n  {kind}( {original} )");
    if let Some(expanded) = expression.child("Expanded").map(|child| child.text.trim()).filter(|text| *text != original) {
        write!(text, "\nwith expansion:\n  {expanded}").unwrap_or_default();
    }
    for exception in expression.children("Exception").chain(expression.children("FatalErrorCondition")) {
        write!(text, "\nunexpected exception: {}", exception.text.trim()).unwrap_or_default();
    }
    text
}
