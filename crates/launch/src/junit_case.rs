//! One `<testcase>` of a JUnit file, and its outcome in the words of the tools that write one.

use super::junit_failure::{failure_text, message};
use super::junit_retry;
use super::times;
use super::xml::Element;
use super::{attributes, texts};
use asterisk_base::model::{Case, TestOutcome, is_invisible};

/// Values of `status` and `result` for failed tests, from tools that write no `<failure>`.
const FAILED: [&str; 6] = ["fail", "failed", "failure", "timeout", "timedout", "crashed"];

/// Values for tests that could not be run to their end.
const BROKEN: [&str; 4] = ["error", "errored", "broken", "aborted"];

/// Values for tests that were not run (googletest, `CTest`).
const NOT_RUN: [&str; 7] = ["notrun", "disabled", "skipped", "suppressed", "ignored", "pending", "filtered"];

/// `CTest`'s message for a test whose program was not built. It counts such a test as failed, although it writes `<skipped>`.
const NO_PROGRAM: &str = "Unable to find executable";

/// The outcome of a test. Child elements take precedence over `status`, which tools use differently (googletest writes `run` for
/// failed tests).
pub(super) fn outcome(case: &Element) -> TestOutcome {
    let has = |names: &[&str]| case.children.iter().any(|child| names.contains(&child.name.as_str()));
    let has_status = |words: &[&str]| {
        let values = ["status", "result"].iter().filter_map(|name| case.attribute(name));
        values.into_iter().any(|value| words.iter().any(|word| value.eq_ignore_ascii_case(word)))
    };
    if has(&["failure"]) {
        TestOutcome::Failed
    } else if has(&["error"]) || case.children("skipped").any(|skipped| message(skipped).starts_with(NO_PROGRAM)) {
        TestOutcome::Error
    } else if has(&["skipped", "disabled"]) {
        TestOutcome::Skipped
    } else if has(&junit_retry::ELEMENTS) {
        TestOutcome::Flaky
    } else if has_status(&NOT_RUN) {
        TestOutcome::Skipped
    } else if has_status(&FAILED) {
        TestOutcome::Failed
    } else if has_status(&BROKEN) {
        TestOutcome::Error
    } else {
        TestOutcome::Passed
    }
}

/// The name of a test without one.
pub(super) const UNNAMED: &str = "(unnamed)";

/// Whether a test has neither a name nor a class.
pub(super) fn is_nameless(case: &Element) -> bool {
    visible(case, "name").is_none() && visible(case, "classname").is_none()
}

/// An attribute, unless none of its characters can be seen.
fn visible<'e>(element: &'e Element, name: &str) -> Option<&'e str> {
    element.attribute(name).filter(|value| value.chars().any(|ch| !is_invisible(ch) && !ch.is_whitespace()))
}

/// `classname::name`; the suite stands in for an absent class. A name that repeats its class (jest-junit, `CTest`) is used alone.
pub(super) fn full_name(case: &Element, suite: &str) -> String {
    let name = texts::one_line(&match (visible(case, "classname").unwrap_or(suite), visible(case, "name")) {
        ("", name) => name.unwrap_or(UNNAMED).to_owned(),
        (suite, None) if is_nameless(case) => format!("{suite}::{UNNAMED}"),
        (class, None) => class.to_owned(),
        (class, Some(name)) if name.strip_prefix(class).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) => {
            name.to_owned()
        }
        (class, Some(name)) => format!("{class}::{name}"),
    });
    // A name may consist of escapes alone.
    if name.is_empty() { UNNAMED.to_owned() } else { name }
}

/// Suite and name of a test, those of its case if it failed; it stands in the named suite.
pub(super) fn names(case: &Element, suite: &str) -> (String, String) {
    let class = visible(case, "classname").unwrap_or(suite);
    let name = visible(case, "name").or(visible(case, "classname")).unwrap_or(UNNAMED);
    (texts::one_line(class), texts::one_line(name))
}

/// Makes the case of a failed test, without its texts.
pub(super) fn case(element: &Element, outcome: TestOutcome, id: String, suite: &str, suite_file: Option<&str>) -> Case {
    let class = element.attribute("classname").unwrap_or(suite);
    let (class_name, name) = names(element, suite);
    let mut case = Case {
        id,
        name,
        status: if outcome == TestOutcome::Error { "ERROR" } else { "FAILED" }.to_owned(),
        suite: class_name,
        file: element.attribute("file").or(element.attribute("filepath")).or(suite_file).map(str::to_owned),
        started_at: element.attribute("timestamp").and_then(times::parse),
        duration_s: ["time", "duration"].iter().find_map(|name| element.attribute(name).and_then(times::seconds)),
        ..Case::default()
    };
    if suite != class {
        attributes::add(&mut case.attributes, "testsuite", suite);
    }
    for (from, to) in [("line", "line"), ("lineno", "line"), ("type_param", "type_param"), ("value_param", "value_param")] {
        if let Some(value) = element.attribute(from).filter(|value| *value != "0") {
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

/// The texts of the failures: message and text of each, without repeating the message, or at least the type. If one text holds
/// the output of later attempts (Playwright), only the first is used. For a program that was not found, the text of `<skipped>`.
pub(super) fn error(case: &Element) -> String {
    let texts: Vec<String> = failures(case).map(failure_text).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() && case.name == "testsuite" {
        return "the suite counts a failure, but has no test".to_owned();
    }
    if texts.is_empty() {
        return case.children("skipped").map(failure_text).collect();
    }
    // `CTest` only says that a program failed; Boost.Test in it says why.
    if texts == ["Failed"] {
        let said = output(case).lines().filter_map(of_boost).collect::<Vec<_>>().join("\n");
        if !said.is_empty() {
            return said;
        }
    }
    texts.join("\n\n")
}

/// A line of Boost.Test, `a.cpp(3): error: in "suite/case": message`, as the message and a frame.
fn of_boost(line: &str) -> Option<String> {
    let (place, rest) = line.split_once("): ")?;
    let (file, number) = place.rsplit_once('(')?;
    let at = if file == "unknown location" { String::new() } else { format!("\n    at {file}:{number}") };
    if rest.contains("last checkpoint") {
        return Some(at.trim_start_matches('\n').to_owned());
    }
    let message = rest.split_once("error: in \"")?.1.split_once("\": ")?.1;
    Some(format!("{message}{at}"))
}

/// The output: `system-out`, then `system-err`, without pytest's headings of empty sections.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_boost_are_messages_with_a_place() {
        assert_eq!(
            of_boost("a.cpp(3): error: in \"s/c\": check x == 2 has failed [1 != 2]").as_deref(),
            Some("check x == 2 has failed [1 != 2]\n    at a.cpp:3")
        );
        assert_eq!(
            of_boost("unknown location(0): fatal error: in \"s/c\": std::out_of_range: at").as_deref(),
            Some("std::out_of_range: at")
        );
        assert_eq!(of_boost("a.cpp(7): last checkpoint").as_deref(), Some("    at a.cpp:7"));
        assert_eq!(of_boost("Running 1 test case..."), None);
    }
}
