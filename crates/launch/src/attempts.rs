//! The attempts of a test that was retried and failed each time.

use super::{attributes, cut};
use asterisk_base::model::{Case, normalise_error};

/// The maximum number of attempts whose errors are kept.
const MAX_ERRORS: usize = 5;

/// The maximum bytes shown of an attempt's error.
const MAX_TEXT: usize = 400;

/// The attempts of a test other than the one whose error is the case's.
#[derive(Debug, Default)]
pub(super) struct TestAttempts {
    /// The errors of the first failed attempts.
    errors: Vec<String>,
    count: usize,
}

impl TestAttempts {
    /// Adds a failed attempt.
    pub(super) fn add(&mut self, error: &str) {
        self.count += 1;
        if self.errors.len() < MAX_ERRORS {
            let error = error.trim();
            self.errors.push(error[..cut::floor(error, 4 * MAX_TEXT)].to_owned());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Records the attempts in the attributes of a case. Returns lines to put before its log: the errors that differ from
    /// `error`.
    pub(super) fn annotate(&self, case: &mut Case, error: &str) -> String {
        let mut lines = String::new();
        if self.is_empty() {
            return lines;
        }
        set_attributes(case, self.count + 1);
        for (index, attempt) in self.errors.iter().enumerate() {
            lines += &difference(error, attempt, index + 2);
        }
        lines
    }
}

/// Records a further failed attempt, the `number`-th, of a case that has the error of an earlier one. Returns a line to put before
/// its log if the errors differ.
pub(super) fn annotate_again(case: &mut Case, attempt: &str, number: usize) -> String {
    set_attributes(case, number);
    difference(&case.error_message, attempt.trim(), number)
}

/// The line about an attempt that failed with another error than the case; empty if it is the same error.
fn difference(error: &str, attempt: &str, number: usize) -> String {
    // One may contain the error's type before the message, the other not.
    let line = normalise_error(attempt.lines().next().unwrap_or_default());
    if normalise_error(head(error)).contains(&line) {
        return String::new();
    }
    format!("attempt {number} failed otherwise: {}\n", head(attempt))
}

/// Sets the attributes `attempts` and `retries` of a case.
pub(super) fn set_attributes(case: &mut Case, attempts: usize) {
    for (name, value) in [("attempts", attempts), ("retries", attempts - 1)] {
        case.attributes.remove(name);
        attributes::add(&mut case.attributes, name, &value.to_string());
    }
}

/// The first lines of an error, at most [`MAX_TEXT`] bytes.
fn head(error: &str) -> &str {
    let error = error.trim();
    let end = error.match_indices('\n').nth(2).map_or(error.len(), |(at, _)| at);
    error[..cut::floor(error, end.min(MAX_TEXT))].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_that_differ_are_listed() {
        let mut attempts = TestAttempts::default();
        for error in ["refused after 12 ms", "no such host\n", ""] {
            attempts.add(error);
        }
        let mut case = Case::default();
        let lines = attempts.annotate(&mut case, "refused after 7 ms");
        assert_eq!(lines, "attempt 3 failed otherwise: no such host\n");
        assert_eq!((&case.attributes["attempts"], &case.attributes["retries"]), ("4", "3"));
    }
}
