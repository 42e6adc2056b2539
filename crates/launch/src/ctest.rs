//! Reads `CTest`'s `Testing/*/Test.xml` and `Build.xml`. The texts in `Notes.xml` become notes of the launch.
//!
//! A build error is a case, called after its source file; so is a test whose program was not built. The output of a test may be
//! packed.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::xml::{self, Element, Visitor};
use super::{InputPart, cut, detect, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::{Diagnostic, Diagnostics, Span};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::{GzDecoder, ZlibDecoder};
use std::io::Read;

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "CTest", signs: &[FormatSign::Root("Site", &["BuildStamp|BuildName|Generator"])], is_json: false, read };

/// The maximum bytes of a test's output.
const MAX_OUTPUT: u64 = 256 << 10;

/// The maximum bytes of a note.
const MAX_NOTE: usize = 500;

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let source = input.source;
    let mut reader = CtestReader { builder: input.builder(), has_parts: false, has_notes: false };
    let problems = xml::read(input.stream, source, &mut reader)?;
    if reader.has_notes && !reader.has_parts {
        reader.builder.part.is_notes = true;
    } else if !reader.has_parts && problems.cut.is_none() {
        let (what, help) = ("a CTest file without tests", "pass `Test.xml` of the same directory");
        return Err(detect::refuse(source, Span::new(0, 0), what, help).into());
    }
    Ok(reader.builder.finish_document(source.name(), problems))
}

struct CtestReader {
    builder: LaunchBuilder,
    /// Whether the document has a part with tests or a build.
    has_parts: bool,
    has_notes: bool,
}

impl Visitor for CtestReader {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        root.attribute("BuildName").unwrap_or_default().clone_into(&mut self.builder.launch().name);
        for (from, to) in [("Name", "site"), ("BuildStamp", "build_stamp"), ("Generator", "generator"), ("OSName", "os")] {
            self.builder.set(to, root.attribute(from));
        }
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "Site" | "Testing" | "Build" | "Notes")
    }

    fn is_test(&self, name: &str) -> bool {
        matches!(name, "Test" | "Failure" | "Error" | "Note")
    }

    fn has_failed(&self, test: &Element) -> bool {
        match test.name.as_str() {
            "Note" => true,
            "Test" => test.attribute("Status").is_some() && outcome(test).is_failure(),
            _ => test.child("Result").or(test.child("Text")).is_some(),
        }
    }

    fn open(&mut self, suite: &Element) {
        self.has_parts |= matches!(suite.name.as_str(), "Testing" | "Build");
        self.has_notes |= suite.name == "Notes";
    }

    fn test(&mut self, test: &Element, suite: &Element) {
        match (suite.name.as_str(), test.name.as_str()) {
            // A test of a damaged `TestList` has no status.
            ("Testing", "Test") if test.attribute("Status").is_some() => self.builder.add(record(test)),
            ("Notes", "Note") => {
                let text = texts::one_line(test.text_of("Text"));
                let file = texts::file_name(test.attribute("Name").unwrap_or_default());
                if !text.is_empty() {
                    self.builder.launch().notes.push(format!("`{file}` says: {}", &text[..cut::floor(&text, MAX_NOTE)]));
                }
                None
            }
            ("Build", _) if test.attribute("type").is_none_or(|kind| kind == "Error") => self.builder.add(build_error(test)),
            _ => None,
        };
    }

    fn close(&mut self, suite: &Element) {
        if let Some(list) = suite.child("TestList") {
            self.builder.declare_tests(list.children.len() as u64);
        }
        let time = |names: [&str; 2]| names.iter().find_map(|name| times::parse(suite.text_of(name)));
        self.builder.span(time(["StartTestTime", "StartBuildTime"]), time(["EndTestTime", "EndBuildTime"]));
        for name in suite.children("Subproject").filter_map(|subproject| subproject.attribute("name")) {
            self.builder.set("subproject", name);
        }
    }
}

/// The value of a measurement.
fn measured<'e>(test: &'e Element, name: &str) -> &'e str {
    let mut all = test.children("Results").flat_map(|results| results.children("NamedMeasurement"));
    all.find(|one| one.attribute("name") == Some(name)).map_or("", |one| one.text_of("Value"))
}

fn outcome(test: &Element) -> TestOutcome {
    match test.attribute("Status").unwrap_or_default() {
        "passed" => TestOutcome::Passed,
        "failed" => TestOutcome::Failed,
        _ => match measured(test, "Completion Status") {
            "Disabled" => TestOutcome::Skipped,
            status if status.starts_with("SKIP_") => TestOutcome::Skipped,
            _ => TestOutcome::Error,
        },
    }
}

fn record(test: &Element) -> TestRecord {
    let outcome = outcome(test);
    let path = test.text_of("Path").trim_start_matches("./");
    let mut record = TestRecord::new(if path == "." { "" } else { path }, test.text_of("Name"), outcome);
    record.started_at = test.text_of("StartTestTime").split('.').next().and_then(times::parse);
    record.duration_s = times::seconds(measured(test, "Execution Time"));
    for label in test.children("Labels").flat_map(|labels| labels.children("Label")) {
        record.set("cmake_labels", label.text.trim());
    }
    if outcome.is_failure() {
        record.set("command", test.text_of("FullCommandLine"));
        let (code, value) = (measured(test, "Exit Code"), measured(test, "Exit Value"));
        record.set("exit_code", value);
        record.error = match (code, measured(test, "Completion Status")) {
            ("", status) => status.to_owned(),
            ("Failed", _) => format!("the program ended with exit code {value}"),
            (code, _) => code.to_owned(),
        };
        record.log = test.children("Results").flat_map(|results| results.children("Measurement")).map(output).collect();
    }
    record
}

/// The output of a test, unpacked.
fn output(measurement: &Element) -> String {
    let Some(value) = measurement.child("Value") else { return String::new() };
    if value.attribute("encoding") != Some("base64") {
        return value.text.clone();
    }
    let packed: Vec<u8> = value.text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let Ok(bytes) = STANDARD.decode(packed) else { return "(the output could not be decoded)".to_owned() };
    let mut unpacked = Vec::new();
    let read = match (value.attribute("compression"), bytes.starts_with(b"\x1f\x8b")) {
        (None, _) => (&*bytes).take(MAX_OUTPUT).read_to_end(&mut unpacked),
        (_, true) => GzDecoder::new(&*bytes).take(MAX_OUTPUT).read_to_end(&mut unpacked),
        (_, false) => ZlibDecoder::new(&*bytes).take(MAX_OUTPUT).read_to_end(&mut unpacked),
    };
    // What was unpacked before a damage is kept.
    let end = if read.is_err() { "\n(the rest of the output could not be unpacked)" } else { "" };
    format!("{}{end}", String::from_utf8_lossy(&unpacked))
}

/// The case of a build error: `Failure` if the compiler was called by `CTest`'s launcher, else `Error` with a part of the log.
fn build_error(error: &Element) -> TestRecord {
    let action = error.child("Action").unwrap_or(error);
    let file = ["SourceFile", "OutputFile"].iter().map(|name| action.text_of(name)).find(|file| !file.is_empty());
    let target = action.text_of("TargetName");
    let mut record = TestRecord::fixture(target, file.map_or("build", texts::file_name));
    record.set("fixture", "build");
    record.locate(action.text_of("SourceFile"), error.text_of("SourceLineNumber").parse().unwrap_or(0));
    for label in error.children("Labels").flat_map(|labels| labels.children("Label")) {
        record.set("cmake_labels", label.text.trim());
    }
    record.error = match error.child("Result") {
        Some(result) => error_text(result.text_of("StdErr"), result.text_of("StdOut")),
        None => {
            let parts = ["PreContext", "Text", "PostContext"].map(|name| error.text_of(name));
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
        }
    };
    if record.error.is_empty() {
        let code = error.child("Result").map_or("", |result| result.text_of("ExitCondition"));
        record.error = format!("the build of {} failed {code}", file.unwrap_or("a target"));
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_output_is_unpacked() {
        let value = |text: &str| Element {
            children: vec![Element {
                name: "Value".to_owned(),
                attributes: vec![("encoding".to_owned(), "base64".to_owned()), ("compression".to_owned(), "gzip".to_owned())],
                text: text.to_owned(),
                ..Element::default()
            }],
            ..Element::default()
        };
        assert_eq!(
            output(&value("eJxLzi9K1UsuKLAytVIoLs1VyCxWMNZRyMsv\nUTBJJksKACl7GWk=\n")),
            "core.cpp:5: sum is 3, not 4".repeat(3)
        );
        for damaged in ["eJxLSixKL", "not base64!", "AAAA"] {
            assert!(output(&value(damaged)).contains("could not be"), "{damaged}");
        }
    }
}
