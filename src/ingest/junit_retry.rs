//! Tests that were tried again, in the ways tools write that down.
//!
//! - surefire, nextest, Playwright with `includeRetries`: `<rerunFailure>`, `<rerunError>` in a test that failed in the end,
//!   `<flakyFailure>`, `<flakyError>` in one that passed.
//! - gotestsum: the test once more in the same suite, its failures first.
//! - pytest-rerunfailures: the test once more in the same suite; all attempts but the last look as if they had passed.
//! - Playwright without `includeRetries`: `Retry #1 ───` within the text of the failure.
//!
//! What failed each time is one case, with `attempts` (how often it was tried) and `retries` (how often again) among its
//! attributes, and the later errors that are not the first one's at the head of its log. What passed in the end is no case:
//! it did not fail. It counts as passed and as `flaky` among the totals and is named in the launch's notes.

use super::attempts::TestAttempts;
use super::junit_case;
use super::xml::Element;

/// Elements of a `<testcase>` that tell of an attempt that failed.
pub(super) const ELEMENTS: [&str; 4] = ["flakyFailure", "flakyError", "rerunFailure", "rerunError"];

/// How Playwright heads what a later attempt said, up to the number.
const HEADING: &str = "Retry #";

/// The later attempts that one `<testcase>` tells of.
pub(super) fn attempts(test: &Element) -> TestAttempts {
    let mut all = TestAttempts::default();
    for attempt in test.children.iter().filter(|child| ELEMENTS.contains(&child.name.as_str())) {
        all.add(&junit_case::told(attempt));
    }
    if all.is_empty() {
        for body in test.children("failure").chain(test.children("error")) {
            later_attempts(&body.text).for_each(|later| all.add(later));
        }
    }
    all
}

/// The places of Playwright's headings of later attempts.
fn headings(body: &str) -> impl Iterator<Item = usize> {
    body.match_indices(HEADING).map(|(at, _)| at).filter(|at| {
        let before = body[..*at].rsplit('\n').next().unwrap_or_default();
        let after = body[at + HEADING.len()..].lines().next().unwrap_or_default();
        let rest = after.trim_start_matches(|ch: char| ch.is_ascii_digit());
        before.trim().is_empty() && rest.len() < after.len() && rest.trim_start().starts_with('─')
    })
}

/// A failure's text without what later attempts said.
pub(super) fn first_attempt(body: &str) -> &str {
    headings(body).next().map_or(body, |at| body[..at].trim_end())
}

/// What later attempts said, each without its heading.
fn later_attempts(body: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = headings(body).collect();
    let ends = starts.iter().skip(1).copied().chain([body.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| body[start..end].split_once('\n').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_within_a_text_are_told_apart() {
        let body = "\n  one\n\n    Retry #1 ─────\n\n    two\n\n    Retry #2 ───\n\n  three";
        assert_eq!(first_attempt(body), "\n  one");
        assert_eq!(later_attempts(body).map(str::trim).collect::<Vec<_>>(), ["two", "three"]);
        for plain in ["Retry #1 of 3", "a Retry #1 ───", "Retry # ─", ""] {
            assert_eq!((first_attempt(plain), later_attempts(plain).count()), (plain, 0), "{plain}");
        }
    }
}
