//! The text of a `<failure>` or similar element. Playwright writes all attempts into one text, under headings.

use super::junit_title;
use super::xml::Element;

/// Playwright's heading of a later attempt, up to the number.
const HEADING: &str = "Retry #";

pub(super) fn message(element: &Element) -> &str {
    element.attribute("message").unwrap_or_default()
}

/// Message and text of a failure.
pub(super) fn failure_text(failure: &Element) -> String {
    let message = message(failure);
    let trace = failure.children("stackTrace").next();
    let own = failure.text.trim();
    let body = if own.is_empty() { trace.map_or("", |trace| trace.text.trim()) } else { own };
    let body = first_attempt(body);
    let untitled = junit_title::without_title(body);
    let cut = message.ends_with("full report in element text]") && !body.is_empty();
    let message = if cut || untitled.is_some() && junit_title::is_location(message) { "" } else { message };
    if let Some(text) = of_boost(body) {
        return text;
    }
    let body = untitled.as_deref().unwrap_or(body);
    let kind = failure.attribute("type").unwrap_or_default();
    let text = match (message, body) {
        ("", "") => return kind.to_owned(),
        (message, "") => message.to_owned(),
        (message, body) if starts_with(body, message) => body.to_owned(),
        (message, body) => format!("{message}\n{body}"),
    };
    match exception(kind) {
        Some(name) if !names(&text, name) => with_exception(&text, kind),
        _ => text,
    }
}

/// The message of Boost.Test, and its place as a frame, without the headings around them.
fn of_boost(body: &str) -> Option<String> {
    if let Some((head, stack)) = body.split_once("EXCEPTION STACK TRACE: -") {
        let message = stack.split_once('\n')?.1.rsplit_once("\n-----").map_or("", |(message, _)| message);
        let place = head.rsplit_once("Last checkpoint:").and_then(|(_, place)| place_of_boost(place));
        return head
            .contains("UNCAUGHT EXCEPTION:")
            .then(|| [message, place.as_deref().unwrap_or_default()].join("\n").trim().to_owned());
    }
    let (_, fields) = body.split_once("ASSERTION FAILURE:\n")?;
    let message = fields.split_once("- message:")?.1.trim();
    Some(format!("{message}\n{}", place_of_boost(fields)?))
}

/// `- file: a.cpp` and `- line: 3` as a frame.
fn place_of_boost(fields: &str) -> Option<String> {
    let field =
        |name: &str| fields.lines().find_map(|line| line.trim().strip_prefix("- ")?.strip_prefix(name)?.trim().strip_prefix(':'));
    Some(format!("    at {}:{}", field("file")?.trim(), field("line")?.trim()))
}

/// The last name of a type that is an exception's and says more than that a check failed.
fn exception(kind: &str) -> Option<&str> {
    let name = kind.rsplit(['.', ':', '\\', '$']).next().unwrap_or_default();
    let is_class = name.starts_with(|ch: char| ch.is_ascii_uppercase()) && name.contains(|ch: char| ch.is_ascii_lowercase());
    let is_name = kind.chars().all(|ch| ch.is_alphanumeric() || matches!(ch, '.' | ':' | '\\' | '$' | '_'));
    let is_plain = ["Assert", "Fail", "Comparison", "Expectation"].iter().any(|word| name.contains(word));
    (is_class && is_name && !is_plain && !matches!(name, "Error" | "Exception")).then_some(name)
}

/// Whether a text has the name of an exception, other than in source code that throws one.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].rsplit('\n').next().unwrap_or_default();
        let statement = before.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
        !["raise ", "throw "].iter().any(|word| statement.starts_with(word))
    })
}

/// A text with the exception that it lacks: in front, or at the end of a Python traceback, as runtimes print it.
fn with_exception(text: &str, kind: &str) -> String {
    if text.starts_with("Traceback (most recent call last)") { format!("{text}\n{kind}") } else { format!("{kind}: {text}") }
}

/// Whether the text starts with the message: on its first line, perhaps after the error's type.
fn starts_with(body: &str, message: &str) -> bool {
    body.find(message).is_some_and(|at| !body[..at].contains('\n'))
}

/// The offsets of Playwright's headings of later attempts.
fn headings(body: &str) -> impl Iterator<Item = usize> {
    body.match_indices(HEADING).map(|(at, _)| at).filter(|at| {
        let before = body[..*at].rsplit('\n').next().unwrap_or_default();
        let after = body[at + HEADING.len()..].lines().next().unwrap_or_default();
        let rest = after.trim_start_matches(|ch: char| ch.is_ascii_digit());
        before.trim().is_empty() && rest.len() < after.len() && rest.trim_start().starts_with('─')
    })
}

/// The text of a failure up to the first later attempt.
fn first_attempt(body: &str) -> &str {
    headings(body).next().map_or(body, |at| body[..at].trim_end())
}

/// The texts of later attempts, each without its heading.
pub(super) fn later_attempts(body: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = headings(body).collect();
    let ends = starts.iter().skip(1).copied().chain([body.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| body[start..end].split_once('\n').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_boost_are_frames() {
        let failed = "ASSERTION FAILURE:\n- file   : stats_test.cpp\n- line   : 15\n- message: check median(x) == 2.5 has failed [3 != 2.5]";
        let thrown = "UNCAUGHT EXCEPTION:\n- file: unknown location\n- line: 0\n\n\nEXCEPTION STACK TRACE: --------------\nstd::runtime_error: cannot open a.txt\n-------------------------------------\n\nLast checkpoint:\n- file: \"a_test.cpp\"";
        assert_eq!(of_boost(failed).as_deref(), Some("check median(x) == 2.5 has failed [3 != 2.5]\n    at stats_test.cpp:15"));
        assert_eq!(of_boost(thrown).as_deref(), Some("std::runtime_error: cannot open a.txt"));
        assert_eq!(of_boost("ASSERTION FAILURE: of another tool"), None);
    }

    #[test]
    fn an_exception_that_only_the_type_names_is_part_of_the_text() {
        let shown =
            |kind: &str, text: &str| exception(kind).filter(|name| !names(text, name)).map(|_| with_exception(text, kind));
        assert_eq!(shown("httplib.BadStatusLine", "''").as_deref(), Some("httplib.BadStatusLine: ''"));
        let trace = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f";
        assert_eq!(shown("TimeoutError", trace), Some(format!("{trace}\nTimeoutError")));
        assert_eq!(shown("java.io.IOException", "java.io.IOException: gone"), None);
        let source = "    raise BadStatusLine(line)\nclosed";
        assert_eq!(shown("httplib.BadStatusLine", source), Some(format!("httplib.BadStatusLine: {source}")));
        for kind in [
            "failure",
            "test failure with exit code 101",
            "java.lang.AssertionError",
            "org.opentest4j.AssertionFailedError",
            "Error",
            "",
        ] {
            assert_eq!(shown(kind, "x"), None, "{kind}");
        }
    }

    #[test]
    fn attempts_within_a_text_are_split() {
        let body = "\n  one\n\n    Retry #1 ─────\n\n    two\n\n    Retry #2 ───\n\n  three";
        assert_eq!(first_attempt(body), "\n  one");
        assert_eq!(later_attempts(body).map(str::trim).collect::<Vec<_>>(), ["two", "three"]);
        for plain in ["Retry #1 of 3", "a Retry #1 ───", "Retry # ─", ""] {
            assert_eq!((first_attempt(plain), later_attempts(plain).count()), (plain, 0), "{plain}");
        }
    }
}
