//! Retried tests, in the notations of different tools.
//!
//! - surefire, nextest, Playwright with `includeRetries`: `<rerunFailure>`, `<rerunError>` in a test that failed in the end,
//!   `<flakyFailure>`, `<flakyError>` in one that passed.
//! - gotestsum: the test again in the same suite, its failures first.
//! - pytest-rerunfailures: the test again in the same suite; all attempts but the last look as if they had passed.
//! - Playwright without `includeRetries`: `Retry #1 ───` within the text of the failure.
//!
//! A test that failed each time is one case, with the attributes `attempts` (all attempts) and `retries` (all but the first), and
//! with later errors that differ from the first at the head of its log. A test that passed in the end is not a case: it counts as
//! passed and as `flaky` among the totals and is named in the launch's notes.

use super::attempts::TestAttempts;
use super::junit_failure::{failure_text, later_attempts};
use super::xml::Element;

/// Elements of a `<testcase>` for failed attempts.
pub(super) const ELEMENTS: [&str; 4] = ["flakyFailure", "flakyError", "rerunFailure", "rerunError"];

/// The later attempts recorded in a `<testcase>`.
pub(super) fn attempts(test: &Element) -> TestAttempts {
    let mut all = TestAttempts::default();
    for attempt in test.children.iter().filter(|child| ELEMENTS.contains(&child.name.as_str())) {
        all.add(&failure_text(attempt));
    }
    if all.is_empty() {
        for body in test.children("failure").chain(test.children("error")) {
            later_attempts(&body.text).for_each(|later| all.add(later));
        }
    }
    all
}
