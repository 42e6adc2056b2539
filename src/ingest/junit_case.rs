//! One `<testcase>` of a JUnit file.

use super::times;
use super::xml::Element;
use super::{attributes, texts};
use crate::model::Case;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It passed.
    Passed,
    /// It passed when it was tried again.
    Flaky,
    /// It was not run.
    Skipped,
    /// It failed.
    Failed,
    /// It could not be run to its end: a fixture failed, it died.
    Error,
}

/// How a test ended.
pub(super) fn outcome(case: &Element) -> Outcome {
    let has = |names: &[&str]| case.children.iter().any(|child| names.contains(&child.name.as_str()));
    if has(&["failure"]) {
        Outcome::Failed
    } else if has(&["error"]) {
        Outcome::Error
    } else if has(&["skipped"]) {
        Outcome::Skipped
    } else if has(&["flakyFailure", "flakyError"]) {
        Outcome::Flaky
    } else {
        Outcome::Passed
    }
}

/// `classname::name`; the suite stands in for an absent class.
pub(super) fn full_name(case: &Element, suite: &str) -> String {
    texts::one_line(&match (case.attribute("classname").unwrap_or(suite), case.attribute("name")) {
        ("", name) => name.unwrap_or("(unnamed)").to_owned(),
        (class, None) => class.to_owned(),
        (class, Some(name)) => format!("{class}::{name}"),
    })
}

/// The case without its texts.
pub(super) fn case(element: &Element, outcome: Outcome, id: String, suite: &str, suite_file: Option<&str>) -> Case {
    let one_line = texts::one_line;
    let class = element.attribute("classname").unwrap_or(suite);
    let mut case = Case {
        id,
        name: one_line(element.attribute("name").unwrap_or(class)),
        status: if outcome == Outcome::Error { "ERROR" } else { "FAILED" }.to_owned(),
        suite: one_line(class),
        file: element.attribute("file").or(suite_file).map(str::to_owned),
        started_at: element.attribute("timestamp").and_then(times::parse),
        duration_s: element.attribute("time").and_then(times::seconds),
        ..Case::default()
    };
    if suite != class {
        attributes::add(&mut case.attributes, "testsuite", suite);
    }
    if let Some(line) = element.attribute("line") {
        attributes::add(&mut case.attributes, "line", line);
    }
    for failure in failures(element) {
        attributes::add(&mut case.attributes, "failure_type", failure.attribute("type").unwrap_or_default());
    }
    let retries = element.children("rerunFailure").chain(element.children("rerunError")).count();
    if retries > 0 {
        attributes::add(&mut case.attributes, "retries", &retries.to_string());
    }
    case
}

fn failures(case: &Element) -> impl Iterator<Item = &Element> {
    case.children.iter().filter(|child| child.name == "failure" || child.name == "error")
}

/// What the failures say: each one's message and text, the message only once, or at the least its type.
pub(super) fn error(case: &Element) -> String {
    let texts: Vec<String> = failures(case)
        .map(|failure| {
            let message = failure.attribute("message").unwrap_or_default();
            let body = failure.text.trim();
            match (message, body) {
                ("", "") => failure.attribute("type").unwrap_or_default().to_owned(),
                (message, "") => message.to_owned(),
                (message, body) if starts_with(body, message) => body.to_owned(),
                (message, body) => format!("{message}\n{body}"),
            }
        })
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n\n")
}

/// True if the message stands in the text's beginning: on its first line, perhaps behind the error's type.
fn starts_with(body: &str, message: &str) -> bool {
    body.find(message).is_some_and(|at| !body[..at].contains('\n'))
}

/// What was printed: `system-out`, then `system-err`, without pytest's headings of sections that are empty.
pub(super) fn output(element: &Element) -> String {
    let printed = element.children("system-out").chain(element.children("system-err"));
    let parts: Vec<String> =
        printed.map(|part| without_empty_sections(&part.text)).filter(|text| !text.trim().is_empty()).collect();
    parts.join("\n")
}

fn without_empty_sections(text: &str) -> String {
    let is_heading = |line: &str| line.starts_with("---") && line.ends_with("---") && line.contains(" Captured ");
    let mut kept: Vec<&str> = Vec::new();
    let mut heading = None;
    for line in text.split('\n') {
        if is_heading(line.trim_end()) {
            heading = Some(line);
        } else if heading.is_none() || !line.trim().is_empty() {
            kept.extend(heading.take());
            kept.push(line);
        }
    }
    kept.join("\n")
}
