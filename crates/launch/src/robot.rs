//! Reads Robot Framework's `output.xml`, versions 3 to 7.
//!
//! The keywords of a test become its log. A suite whose set-up or tear-down failed is a case of its own, next to the tests that
//! failed with it. Earlier executions recorded by `rebot --merge` are attempts.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::texts::{self, Markup};
use super::xml::{self, Element, Visitor};
use super::{InputPart, cut, times};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::TestOutcome;
use asterisk_diag::{Diagnostic, Diagnostics};
use std::fmt::Write as _;

/// The maximum bytes of log kept of a keyword with everything in it.
const MAX_LOG: usize = 32 << 10;

/// The maximum nesting of an output: keywords contain keywords.
const MAX_DEPTH: usize = 400;

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "Robot Framework", signs: &[FormatSign::Root("robot", &[])], is_json: false, read };

/// Reads an output file.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut reader = RobotReader { builder: input.builder(), suites: Vec::new() };
    let problems = xml::read(input.stream, input.source, &mut reader)?;
    Ok(reader.builder.finish_document(input.source.name(), problems))
}

struct RobotReader {
    builder: LaunchBuilder,
    /// Path and file of the open suites; the root has neither.
    suites: Vec<(String, Option<String>)>,
}

impl Visitor for RobotReader {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        self.builder.set("generator", root.attribute("generator"));
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "robot" | "suite")
    }

    fn is_test(&self, name: &str) -> bool {
        name == "test"
    }

    fn max_depth(&self) -> usize {
        MAX_DEPTH
    }

    fn has_failed(&self, test: &Element) -> bool {
        test.child("status").is_some_and(|status| outcome(status).is_failure())
    }

    fn filter(&self, element: Element) -> Option<Element> {
        match element.name.as_str() {
            "statistics" | "errors" | "arguments" => None,
            "msg" | "status" | "doc" | "tag" | "tags" | "arg" | "meta" | "metadata" | "timeout" | "item" | "stat" | "var" => {
                Some(element)
            }
            _ => Some(flatten(element)),
        }
    }

    fn open(&mut self, suite: &Element) {
        let name = texts::one_line(suite.attribute("name").unwrap_or_default());
        if self.suites.len() == 1 && self.builder.launch().name.is_empty() {
            self.builder.launch().name.clone_from(&name);
        }
        let outer = self.suites.last().map_or("", |(path, _)| path.as_str());
        let path = if outer.is_empty() || name.is_empty() { format!("{outer}{name}") } else { format!("{outer}.{name}") };
        self.suites.push((path, suite.attribute("source").map(str::to_owned)));
    }

    fn test(&mut self, test: &Element, _: &Element) {
        let Some(status) = test.child("status") else { return };
        let (suite, file) = self.suites.last().cloned().unwrap_or_default();
        let mut record = TestRecord::new(&suite, test.attribute("name").unwrap_or_default(), outcome(status));
        record.file = file;
        record.set("line", test.attribute("line"));
        record.set("robot_id", test.attribute("id"));
        for tag in test.children("tag").chain(test.children("tags").flat_map(|tags| tags.children("tag"))) {
            record.set("tag", tag.text.as_str());
        }
        record.set("description", test.text_of("doc"));
        record.set("timeout", test.child("timeout").and_then(|timeout| timeout.attribute("value")));
        fill(&mut record, status, log_of(test));
        self.builder.add(record);
    }

    fn close(&mut self, suite: &Element) {
        if self.suites.len() == 2
            && let Some(status) = suite.child("status")
        {
            let (from, took) = span(status);
            self.builder.span(from, from.zip(took).map(|(from, took)| times::later(from, took)));
        }
        let Some((path, file)) = self.suites.pop() else { return };
        for keyword in suite.children("kw") {
            let Some(status) = keyword.child("status").filter(|status| outcome(status).is_failure()) else { continue };
            let kind = keyword.attribute("type").unwrap_or("setup").to_lowercase();
            let mut record = TestRecord::fixture(&path, &format!("Suite {kind}"));
            record.file.clone_from(&file);
            record.set("fixture", kind.as_str());
            fill(&mut record, status, keyword.text.clone());
            if record.error.is_empty() {
                // Before version 4 only the suite has the message.
                suite.text_of("status").clone_into(&mut record.error);
            }
            self.builder.add(record);
        }
    }
}

fn outcome(status: &Element) -> TestOutcome {
    match status.attribute("status").unwrap_or_default() {
        "FAIL" => TestOutcome::Failed,
        "PASS" => TestOutcome::Passed,
        _ => TestOutcome::Skipped,
    }
}

/// Start, and duration in seconds: `starttime`/`endtime` before version 7, `start`/`elapsed` since.
fn span(status: &Element) -> (Option<Timestamp>, Option<f64>) {
    let old = |name| status.attribute(name).and_then(compact_time);
    let start = status.attribute("start").and_then(times::parse).or_else(|| old("starttime"));
    let elapsed = status.attribute("elapsed").and_then(times::seconds);
    let elapsed = elapsed.or_else(|| Some(old("endtime")?.seconds_since(start?)).filter(|seconds| *seconds >= 0.0));
    (start, elapsed)
}

/// Parses `20260302 02:00:00.500`, the time format before version 7.
fn compact_time(text: &str) -> Option<Timestamp> {
    let (date, time) = text.split_once(' ')?;
    let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..8)?);
    times::parse(&format!("{year}-{month}-{day} {time}"))
}

/// Reads error and log. The error is the text of the status with the stack trace that the failing keyword logged; an earlier
/// execution becomes an attempt.
fn fill(record: &mut TestRecord, status: &Element, log: String) {
    (record.started_at, record.duration_s) = span(status);
    let mut error = status.text.trim().to_owned();
    if let Some(html) = error.strip_prefix("*HTML*") {
        error = texts::cleaned(html, Markup::Html);
    }
    if let Some((now, before)) = split_merged(&error) {
        let now = now.to_owned();
        if before.0.is_failure() {
            if record.outcome == TestOutcome::Passed {
                record.outcome = TestOutcome::Flaky;
            } else {
                record.attempts.add(before.1);
            }
        }
        error = now;
    }
    if let Some(at) = log.find("Traceback (most recent call last)").filter(|_| !error.contains("Traceback")) {
        let stack = &log[at..];
        let end = stack.match_indices('\n').map(|(at, _)| at).find(|at| !stack[at + 1..].starts_with([' ', '\t']));
        let end = end.and_then(|end| stack[end + 1..].find('\n').map(|last| end + 1 + last)).unwrap_or(stack.len());
        error = format!("{error}\n{}", &stack[..end]);
    }
    record.error = error;
    record.log = log;
}

/// Splits a message written by `rebot --merge`: the message of this execution, and outcome and message of the earlier one.
fn split_merged(error: &str) -> Option<(&str, (TestOutcome, &str))> {
    if !error.contains("re-executed and results merged") {
        return None;
    }
    let (new, old) = error.split_once("Old status:")?;
    let now = new.split_once("New message:").map_or("", |(_, message)| message.trim());
    let (status, message) = old.split_once("Old message:").unwrap_or((old, ""));
    let outcome = if status.trim().starts_with("FAIL") { TestOutcome::Failed } else { TestOutcome::Passed };
    Some((now, (outcome, message.trim())))
}

/// Converts a keyword or control structure with everything in it to one text.
fn flatten(mut element: Element) -> Element {
    if element.child("status").is_some_and(|status| status.attribute("status") == Some("NOT RUN")) {
        element.children.clear();
        element.text.clear();
        return element;
    }
    let mut text = String::new();
    if let Some(name) = element.attribute("name") {
        let arguments: Vec<&str> = arguments(&element).map(|arg| arg.text.trim()).collect();
        text = format!("{}\n", texts::one_line(&format!("{name}  {}", arguments.join("  "))));
    }
    text.push_str(&log_of(&element));
    element.text = cut::cut(text, MAX_LOG).0;
    element.children.retain(|child| child.name == "status");
    element
}

fn arguments(keyword: &Element) -> impl Iterator<Item = &Element> {
    keyword.children("arg").take(16)
}

/// The messages and keywords within an element, in order, as log lines.
fn log_of(element: &Element) -> String {
    let mut log = String::new();
    for child in &element.children {
        match child.name.as_str() {
            "msg" => {
                let level = child.attribute("level").unwrap_or("INFO");
                let text = child.text.trim();
                if matches!(level, "DEBUG" | "TRACE") && !text.starts_with("Traceback") {
                    continue;
                }
                let html = child.attribute("html").is_some_and(|html| html == "true" || html == "yes");
                let text = if html { texts::cleaned(text, Markup::Html) } else { text.to_owned() };
                // Writing to a string cannot fail.
                writeln!(log, "{level} {text}").unwrap_or_default();
            }
            "status" | "doc" | "tag" | "tags" | "arg" | "meta" | "metadata" | "timeout" | "item" | "stat" | "var" => {}
            _ => log.push_str(&child.text),
        }
    }
    cut::cut(log, MAX_LOG).0
}
