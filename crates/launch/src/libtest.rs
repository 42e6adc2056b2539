//! Events of Rust's test harness (`--format json`), one per line, and messages of `cargo --message-format json` among them.
//!
//! nextest writes the same events, with attempts as `NAME#2`. Other output of cargo may stand between them: it names the crates.

use super::detect;
use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::lines::{LineReader, push_bounded};
use super::{InputPart, foreign, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::counted;
use asterisk_diag::{Diagnostics, Source, Span};
use serde_json::Value;
use std::collections::BTreeSet;

/// The maximum bytes of compiler output that are kept.
const MAX_OUTPUT: usize = 64 << 10;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "libtest JSON",
    signs: &[
        FormatSign::Event(is_event),
        // Messages of a build precede the events of its tests.
        FormatSign::Keys(&["reason", "package_id|success"]),
    ],
    is_json: true,
    read,
};

/// Whether a line is an event of the harness.
fn is_event(line: &Value) -> bool {
    let has = |key| line.get(key).is_some_and(Value::is_string);
    match text(line, "type") {
        "suite" | "test" | "report" => has("event"),
        "bench" => has("event") || has("name") && line.get("median").is_some(),
        _ => false,
    }
}

/// Reads a stream of events.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = LibtestReader {
        builder: input.builder(),
        next_crate: String::new(),
        suite: String::new(),
        running: BTreeSet::new(),
        is_open: false,
        suites: 0,
        errors: String::new(),
        build_failed: false,
    };
    let mut lines = LineReader::new(input.stream);
    let mut cut = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if !text.starts_with('{') {
            reader.cargo_line(text);
            continue;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => reader.event(&value, line.number),
            Err(_) if !line.is_whole => cut = Some(line.number),
            Err(error) => reader.builder.damage.add(line.number, format!("the event could not be read: {error}")),
        }
    }
    reader.finish(input.source, cut)
}

struct LibtestReader {
    builder: LaunchBuilder,
    /// The crate that cargo announced to run next.
    next_crate: String,
    /// The crate whose tests are running.
    suite: String,
    /// Tests that have started but not ended.
    running: BTreeSet<String>,
    is_open: bool,
    suites: usize,
    /// The errors of the compiler.
    errors: String,
    build_failed: bool,
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl LibtestReader {
    /// Reads a line that is not an event: which program cargo runs, or that it died.
    fn cargo_line(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("Running ") {
            let program = path.rsplit_once('(').map_or(path, |(_, program)| program.trim_end_matches(')'));
            let file = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches('`');
            let (name, hash) = file.rsplit_once('-').unwrap_or((file, ""));
            let name = if hash.len() == 16 { name } else { file };
            self.next_crate = texts::one_line(name);
        } else if let Some(name) = line.strip_prefix("Doc-tests ") {
            self.next_crate = texts::one_line(name);
        } else if line.starts_with("error: test failed") || line.starts_with("error: doctest failed") {
            self.process_died();
        }
    }

    fn event(&mut self, value: &Value, line: usize) {
        match (text(value, "type"), text(value, "event")) {
            ("suite", "started") => {
                self.process_died();
                self.is_open = true;
                self.suites += 1;
                let of = value.get("nextest").map(|of| {
                    let (name, binary) = (text(of, "crate"), text(of, "test_binary"));
                    if name == binary || binary.is_empty() { name.to_owned() } else { format!("{name}::{binary}") }
                });
                self.suite = of.unwrap_or_else(|| std::mem::take(&mut self.next_crate));
            }
            ("suite", _) => {
                self.is_open = false;
                self.running.clear();
            }
            ("test", "started") => {
                self.running.insert(text(value, "name").to_owned());
            }
            ("test" | "bench", event) => self.test(value, event, line),
            _ => match text(value, "reason") {
                "compiler-message" => {
                    let message = value.get("message").unwrap_or(&Value::Null);
                    if text(message, "level").starts_with("error") {
                        push_bounded(&mut self.errors, text(message, "rendered"), MAX_OUTPUT);
                    }
                }
                "build-finished" => self.build_failed |= value.get("success") == Some(&Value::Bool(false)),
                _ => {}
            },
        }
    }

    fn test(&mut self, value: &Value, event: &str, line: usize) {
        let name = text(value, "name");
        self.running.remove(name);
        let outcome = match event {
            "ok" => TestOutcome::Passed,
            "failed" => TestOutcome::Failed,
            "ignored" => TestOutcome::Skipped,
            // `bench` has no event.
            "" if text(value, "type") == "bench" => TestOutcome::Passed,
            // A slow test is reported, and continues.
            "timeout" => {
                self.running.insert(name.to_owned());
                return;
            }
            _ => return,
        };
        let mut record = self.record(name, outcome);
        if name.is_empty() {
            self.builder.damage.add(line, "the event of a test names no test");
        }
        let took = value.get("exec_time");
        record.duration_s = took.and_then(|took| took.as_f64().or_else(|| times::seconds(took.as_str()?)));
        if outcome.is_failure() {
            let (log, panic) = split(text(value, "stdout"));
            let reason = [text(value, "message"), text(value, "reason")].into_iter().filter(|text| !text.is_empty());
            let mut error: Vec<&str> = reason.collect();
            error.extend((!panic.is_empty()).then_some(panic));
            record.error = error.join("\n");
            log.clone_into(&mut record.log);
            let stderr = text(value, "stderr");
            if !stderr.is_empty() {
                format!("{log}\n{stderr}").trim_start().clone_into(&mut record.log);
            }
        }
        self.builder.attempt(record);
    }

    /// Makes a record; nextest's names are `CRATE::BINARY$MODULE::TEST#ATTEMPT`.
    fn record(&self, name: &str, outcome: TestOutcome) -> TestRecord {
        let (suite, own) = name.split_once('$').map_or((self.suite.as_str(), name), |(suite, own)| {
            (suite.split_once("::").filter(|(package, binary)| package == binary).map_or(suite, |(package, _)| package), own)
        });
        let attempt = own
            .rsplit_once('#')
            .filter(|(_, number)| name.contains('$') && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
        TestRecord::new(suite, attempt.map_or(own, |(own, _)| own), outcome)
    }

    /// Ends the running tests as errors: their process died.
    fn process_died(&mut self) {
        for name in std::mem::take(&mut self.running) {
            let mut record = self.record(&name, TestOutcome::Error);
            "the test began and did not end: its process died".clone_into(&mut record.error);
            self.builder.attempt(record);
        }
        self.is_open = false;
    }

    fn finish(mut self, source: &Source, cut: Option<usize>) -> Result<InputPart, Diagnostics> {
        if self.suites == 0 && !self.build_failed && cut.is_none() {
            // Only messages of a successful build.
            let known = foreign::UnsupportedFormat::BUILD;
            return Err(detect::refuse(source, Span::new(0, 0), known.what, known.help).into());
        }
        if self.build_failed {
            let mut record = TestRecord::fixture("", "build");
            record.set("fixture", "build");
            record.error = if self.errors.is_empty() { "the build failed".to_owned() } else { std::mem::take(&mut self.errors) };
            self.builder.add(record);
        }
        if self.is_open || cut.is_some() {
            let names: Vec<String> = self.running.iter().take(5).map(|name| format!("`{}`", texts::one_line(name))).collect();
            let running = match self.running.len() {
                0 => String::new(),
                count => format!("; {} not end: {}", counted(count, "test did", "tests did"), names.join(", ")),
            };
            self.builder.cut_off(format!("the file is cut off before the last suite ends{running}"));
        }
        Ok(self.builder.finish(source.name()))
    }
}

/// Splits a test's output at the panic message.
fn split(stdout: &str) -> (&str, &str) {
    let begins = |at: usize| {
        stdout[at..].starts_with("thread '") && stdout[at..].lines().next().is_some_and(|l| l.contains("panicked at"))
    };
    let starts = std::iter::once(0).chain(stdout.match_indices('\n').map(|(at, _)| at + 1));
    let at = starts.into_iter().find(|at| begins(*at)).unwrap_or(stdout.len());
    let (log, panic) = stdout.split_at(at);
    if panic.is_empty() && stdout.starts_with("Error: ") { ("", stdout.trim()) } else { (log.trim_end(), panic.trim()) }
}
