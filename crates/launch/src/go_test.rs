//! Events of `go test -json`, one per line; other lines (the compiler's, before Go 1.24) may stand between them.
//!
//! A test is not a failure of its own if its subtests failed. A package that failed without a failed test (it did not build, or
//! panicked outside of its tests) is a case. A test that runs again is another attempt.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::lines::{LineReader, push_bounded};
use super::{InputPart, attributes, times};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Attributes, TestOutcome};
use asterisk_diag::Diagnostics;
use asterisk_diag::counted;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The maximum bytes of output kept of one test, package or build.
const MAX_OUTPUT: usize = 64 << 10;

/// The maximum number of builds whose output is kept.
const MAX_BUILDS: usize = 1000;

/// The maximum number of names in a note.
const MAX_NAMES: usize = 5;

/// An event of `test2json` or of the build.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct GoEvent {
    time: Option<String>,
    action: String,
    package: Option<String>,
    import_path: Option<String>,
    test: Option<String>,
    elapsed: Option<f64>,
    output: Option<String>,
    failed_build: Option<String>,
    key: Option<String>,
    value: Option<String>,
}

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "go test -json", signs: &[FormatSign::Event(is_event)], is_json: true, read };

/// Whether a line is an event of `test2json` or of the build.
fn is_event(line: &Value) -> bool {
    let has = |key| line.get(key).is_some_and(Value::is_string);
    has("Action") && (has("Package") || has("ImportPath"))
}

/// Reads a stream of events.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = GoReader { builder: input.builder(), packages: BTreeMap::new(), builds: BTreeMap::new(), building: None };
    let mut lines = LineReader::new(input.stream);
    let mut cut = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if !text.starts_with('{') {
            reader.compiler_line(line.text);
            continue;
        }
        match serde_json::from_str::<GoEvent>(text) {
            Ok(event) if event.action.is_empty() => reader.compiler_line(line.text),
            Ok(event) => reader.event(event),
            Err(_) if !line.is_whole => cut = Some(line.number),
            Err(error) => reader.builder.damage.add(line.number, format!("the event could not be read: {error}")),
        }
    }
    Ok(reader.finish(input.source.name(), cut))
}

/// A running test.
#[derive(Default)]
struct GoTest {
    output: String,
    started_at: Option<Timestamp>,
    attributes: Attributes,
    /// Whether it waits until the sequential tests have ended.
    is_paused: bool,
}

#[derive(Default)]
struct GoPackage {
    running: BTreeMap<String, GoTest>,
    output: String,
    started_at: Option<Timestamp>,
    failed: usize,
    /// Tests with failed subtests.
    parents: HashSet<String>,
    has_ended: bool,
}

struct GoReader {
    builder: LaunchBuilder,
    packages: BTreeMap<String, GoPackage>,
    /// The compiler's output, by the import path of the package built.
    builds: BTreeMap<String, String>,
    /// The import path of the package that the compiler's next lines are about.
    building: Option<String>,
}

impl GoReader {
    /// Reads a line that is not an event: `# PACKAGE`, or compiler output about it.
    fn compiler_line(&mut self, line: &str) {
        if let Some(package) = failed_build(line) {
            // Before Go 1.24, there is no event of it.
            let known = self.packages.entry(package.to_owned()).or_default();
            if !known.has_ended {
                push_bounded(&mut known.output, &format!("{line}\n"), MAX_OUTPUT);
                self.fail_package(package, None, Some(package));
            }
        } else if let Some(heading) = line.strip_prefix("# ") {
            let path = heading.trim_start_matches('[').split([' ', ']']).next().unwrap_or_default();
            self.building = Some(path.to_owned());
        } else if let Some(path) = self.building.clone().filter(|_| !line.trim().is_empty()) {
            self.build_output(path, &format!("{line}\n"));
        }
    }

    fn build_output(&mut self, path: String, output: &str) {
        if self.builds.len() < MAX_BUILDS || self.builds.contains_key(&path) {
            push_bounded(self.builds.entry(path).or_default(), output, MAX_OUTPUT);
        }
    }

    fn event(&mut self, event: GoEvent) {
        let at = event.time.as_deref().and_then(times::parse);
        self.builder.span(at, at);
        let Some(name) = event.package else {
            if let (Some(path), Some(output)) = (event.import_path, event.output) {
                self.build_output(path, &output);
            }
            return;
        };
        if event.action == "start" {
            self.packages.insert(name, GoPackage { started_at: at, ..GoPackage::default() });
            return;
        }
        let package = self.packages.entry(name.clone()).or_default();
        let Some(test) = event.test else {
            match event.action.as_str() {
                "output" => push_bounded(&mut package.output, event.output.as_deref().unwrap_or_default(), MAX_OUTPUT),
                "fail" => self.fail_package(&name, event.elapsed, event.failed_build.as_deref()),
                "pass" | "skip" => {
                    package.has_ended = true;
                    package.running.clear();
                }
                _ => {}
            }
            return;
        };
        match event.action.as_str() {
            "run" => {
                package.parents.remove(&test);
                package.running.insert(test, GoTest { started_at: at, ..GoTest::default() });
            }
            "output" => {
                let running = package.running.entry(test).or_default();
                push_bounded(&mut running.output, event.output.as_deref().unwrap_or_default(), MAX_OUTPUT);
            }
            "pause" | "cont" => package.running.entry(test).or_default().is_paused = event.action == "pause",
            "attr" => {
                let running = package.running.entry(test).or_default();
                attributes::add(
                    &mut running.attributes,
                    event.key.as_deref().unwrap_or_default(),
                    event.value.as_deref().unwrap_or_default(),
                );
            }
            "pass" | "bench" => self.end_test(&name, &test, TestOutcome::Passed, event.elapsed),
            "fail" => self.end_test(&name, &test, TestOutcome::Failed, event.elapsed),
            "skip" => self.end_test(&name, &test, TestOutcome::Skipped, event.elapsed),
            _ => {}
        }
    }

    fn end_test(&mut self, name: &str, test: &str, outcome: TestOutcome, elapsed: Option<f64>) {
        let Some(package) = self.packages.get_mut(name) else { return };
        let running = package.running.remove(test).unwrap_or_default();
        if outcome.is_failure() {
            package.failed += 1;
            package.parents.extend(test.match_indices('/').map(|(at, _)| test[..at].to_owned()));
            if package.parents.contains(test) {
                self.builder.part.parents += 1;
                return;
            }
        }
        let mut record = TestRecord::new(name, test, outcome);
        (record.started_at, record.duration_s) = (running.started_at, elapsed.filter(|seconds| *seconds >= 0.0));
        record.attributes = running.attributes;
        if outcome.is_failure() {
            record.error = test_error(&running.output);
        }
        self.builder.attempt(record);
    }

    /// Ends a failed package: tests still running failed with it; without any failed test, the package itself is the failure.
    fn fail_package(&mut self, name: &str, elapsed: Option<f64>, failed_build: Option<&str>) {
        let Some(package) = self.packages.get_mut(name) else { return };
        package.has_ended = true;
        let running = std::mem::take(&mut package.running);
        let mut failed = package.failed;
        let output = package_output(&package.output);
        let started_at = package.started_at;
        let parents: BTreeSet<&str> =
            running.keys().flat_map(|test| test.match_indices('/').map(|(at, _)| &test[..at])).collect();
        let mut panicked = false;
        for (test, state) in &running {
            if parents.contains(test.as_str()) || package.parents.contains(test) {
                continue;
            }
            let outcome = if state.is_paused { TestOutcome::Skipped } else { TestOutcome::Error };
            let mut record = TestRecord::new(name, test, outcome);
            record.started_at = state.started_at;
            record.attributes = state.attributes.clone();
            if outcome.is_failure() {
                failed += 1;
                let own = test_error(&state.output);
                panicked |= has_panic(&own);
                let own = if own == FAILED { "the test began and did not end".to_owned() } else { own };
                record.error = if has_panic(&own) { own } else { format!("{own}\n{output}") };
            }
            self.builder.attempt(record);
        }
        if failed > 0 && (panicked || !has_panic(&output) || !running.is_empty()) {
            return;
        }
        let build = failed_build.or(Some(name)).and_then(|path| self.builds.get(path)).map_or("", String::as_str);
        let is_build = failed_build.is_some() || output.contains("[build failed]") || output.contains("[setup failed]");
        let mut record = TestRecord::fixture(name, if is_build { "build" } else { "TestMain" });
        record.started_at = started_at;
        record.duration_s = elapsed.filter(|seconds| *seconds >= 0.0);
        record.set("fixture", if is_build { "build" } else { "package" });
        let error = if is_build { format!("{build}{output}") } else { output };
        error.trim_end().clone_into(&mut record.error);
        if record.error.is_empty() {
            record.error = format!("the package {name} failed");
        }
        self.builder.attempt(record);
    }

    fn finish(mut self, input: &str, cut: Option<usize>) -> InputPart {
        let open: Vec<&String> = self.packages.iter().filter(|(_, package)| !package.has_ended).map(|(name, _)| name).collect();
        if self.packages.len() == 1 {
            let only = self.packages.keys().next().cloned().unwrap_or_default();
            self.builder.launch().name = only;
        }
        if !open.is_empty() {
            let mut names: Vec<String> = open.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
            if open.len() > MAX_NAMES {
                names.push(format!("{} more", open.len() - MAX_NAMES));
            }
            let what = counted(open.len(), "package ends", "packages end");
            self.builder.cut_off(format!("the file is cut off before {what}: {}", names.join(", ")));
        } else if let Some(line) = cut {
            self.builder.cut_off(format!("the file is cut off in line {line}"));
        }
        self.builder.finish(input)
    }
}

/// The package of `FAIL\tPACKAGE [build failed]`.
fn failed_build(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAIL")?.trim();
    ["[build failed]", "[setup failed]"].iter().find_map(|end| rest.strip_suffix(end)).map(str::trim)
}

/// The error of a failed test without output.
const FAILED: &str = "Failed";

/// Lines by which `go test` reports on tests.
const MARKS: [&str; 8] = ["=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- FAIL:", "--- PASS:", "--- SKIP:", "=== ATTR"];

/// The output of a test without the lines of `go test` about tests.
fn test_error(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !MARKS.iter().any(|mark| line.trim_start().starts_with(mark))).collect();
    let text = lines.join("\n");
    if text.trim().is_empty() { FAILED.to_owned() } else { text.trim_end().trim_start_matches('\n').to_owned() }
}

/// The output of a package without its summary.
fn package_output(output: &str) -> String {
    let is_summary = |line: &str| {
        matches!(line.trim(), "PASS" | "FAIL") || line.starts_with("coverage:") || line.starts_with("testing: warning:")
    };
    output.lines().filter(|line| !is_summary(line)).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn has_panic(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("panic: ") || line.starts_with("fatal error: "))
}
