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
use super::junit_failure::{later_attempts, told};
use super::xml::Element;

/// Elements of a `<testcase>` that tell of an attempt that failed.
pub(super) const ELEMENTS: [&str; 4] = ["flakyFailure", "flakyError", "rerunFailure", "rerunError"];

/// The later attempts that one `<testcase>` tells of.
pub(super) fn attempts(test: &Element) -> TestAttempts {
    let mut all = TestAttempts::default();
    for attempt in test.children.iter().filter(|child| ELEMENTS.contains(&child.name.as_str())) {
        all.add(&told(attempt));
    }
    if all.is_empty() {
        for body in test.children("failure").chain(test.children("error")) {
            later_attempts(&body.text).for_each(|later| all.add(later));
        }
    }
    all
}
