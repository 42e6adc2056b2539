//! One `<testcase>` of a JUnit file, and how it ended in the words of the tools that write one.

use super::junit_failure::{message, told};
use super::junit_retry;
use super::times;
use super::xml::Element;
use super::{attributes, texts};
use crate::model::Case;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestOutcome {
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

impl TestOutcome {
    /// True for both kinds of failure.
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }
}

/// Values of `status` and `result` that say that a test failed, for tools that write no `<failure>`.
const FAILED: [&str; 6] = ["fail", "failed", "failure", "timeout", "timedout", "crashed"];

/// The same for tests that could not be run to their end.
const BROKEN: [&str; 4] = ["error", "errored", "broken", "aborted"];

/// Values of `status` and `result` that say that a test was not run (googletest, `CTest`).
const NOT_RUN: [&str; 7] = ["notrun", "disabled", "skipped", "suppressed", "ignored", "pending", "filtered"];

/// What `CTest` says of a test whose program was not built. It counts such a test among the failed ones, although it writes
/// `<skipped>`.
const NO_PROGRAM: &str = "Unable to find executable";

/// How a test ended. What stands in the element counts before its `status`: tools disagree on what that means (googletest
/// writes `run` for tests that failed).
pub(super) fn outcome(case: &Element) -> TestOutcome {
    let has = |names: &[&str]| case.children.iter().any(|child| names.contains(&child.name.as_str()));
    let says = |words: &[&str]| {
        let said = ["status", "result"].iter().filter_map(|name| case.attribute(name));
        said.into_iter().any(|said| words.iter().any(|word| said.eq_ignore_ascii_case(word)))
    };
    if has(&["failure"]) {
        TestOutcome::Failed
    } else if has(&["error"]) || case.children("skipped").any(|skipped| message(skipped).starts_with(NO_PROGRAM)) {
        TestOutcome::Error
    } else if has(&["skipped", "disabled"]) {
        TestOutcome::Skipped
    } else if has(&junit_retry::ELEMENTS) {
        TestOutcome::Flaky
    } else if says(&NOT_RUN) {
        TestOutcome::Skipped
    } else if says(&FAILED) {
        TestOutcome::Failed
    } else if says(&BROKEN) {
        TestOutcome::Error
    } else {
        TestOutcome::Passed
    }
}

/// What a test is called that has no name.
pub(super) const UNNAMED: &str = "(unnamed)";

/// Whether a test has neither a name nor a class.
pub(super) fn is_nameless(case: &Element) -> bool {
    case.attribute("name").is_none() && case.attribute("classname").is_none()
}

/// `classname::name`; the suite stands in for an absent class. A name that repeats its class (jest-junit, `CTest`) stands
/// alone.
pub(super) fn full_name(case: &Element, suite: &str) -> String {
    texts::one_line(&match (case.attribute("classname").unwrap_or(suite), case.attribute("name")) {
        ("", name) => name.unwrap_or(UNNAMED).to_owned(),
        (suite, None) if is_nameless(case) => format!("{suite}::{UNNAMED}"),
        (class, None) => class.to_owned(),
        (class, Some(name)) if name.strip_prefix(class).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) => {
            name.to_owned()
        }
        (class, Some(name)) => format!("{class}::{name}"),
    })
}

/// The case without its texts.
pub(super) fn case(element: &Element, outcome: TestOutcome, id: String, suite: &str, suite_file: Option<&str>) -> Case {
    let one_line = texts::one_line;
    let class = element.attribute("classname").unwrap_or(suite);
    let mut case = Case {
        id,
        name: one_line(element.attribute("name").or(element.attribute("classname")).unwrap_or(UNNAMED)),
        status: if outcome == TestOutcome::Error { "ERROR" } else { "FAILED" }.to_owned(),
        suite: one_line(class),
        file: element.attribute("file").or(element.attribute("filepath")).or(suite_file).map(str::to_owned),
        started_at: element.attribute("timestamp").and_then(times::parse),
        duration_s: ["time", "duration"].iter().find_map(|name| element.attribute(name).and_then(times::seconds)),
        ..Case::default()
    };
    if suite != class {
        attributes::add(&mut case.attributes, "testsuite", suite);
    }
    for (from, to) in [("line", "line"), ("lineno", "line"), ("type_param", "type_param"), ("value_param", "value_param")] {
        if let Some(value) = element.attribute(from) {
            attributes::add(&mut case.attributes, to, value);
        }
    }
    for failure in failures(element) {
        attributes::add(&mut case.attributes, "failure_type", failure.attribute("type").unwrap_or_default());
    }
    case
}

fn failures(case: &Element) -> impl Iterator<Item = &Element> {
    case.children.iter().filter(|child| child.name == "failure" || child.name == "error")
}

/// What the failures say: each one's message and text, the message only once, or at the least its type. Where one text holds
/// what later attempts said (Playwright's), only the first is taken. A program that was not found is said by `<skipped>`.
pub(super) fn error(case: &Element) -> String {
    let texts: Vec<String> = failures(case).map(told).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return case.children("skipped").map(told).collect();
    }
    texts.join("\n\n")
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
