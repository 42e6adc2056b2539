//! What is kept of the attempts of a test that was tried again and failed each time.

use super::{attributes, cut};
use crate::model::{Case, normalise_error};
use std::fmt::Write as _;

/// The most attempts that are told of.
const MAX_TOLD: usize = 5;

/// The most bytes of what is told of an attempt.
const MAX_TEXT: usize = 400;

/// Attempts of a test beside the one whose error is its case's.
#[derive(Debug, Default)]
pub(super) struct TestAttempts {
    /// What those that failed said, as far as it is kept.
    told: Vec<String>,
    /// How many there were.
    count: usize,
}

impl TestAttempts {
    /// One more, that said this.
    pub(super) fn add(&mut self, error: &str) {
        self.count += 1;
        if self.told.len() < MAX_TOLD {
            let error = error.trim();
            self.told.push(error[..cut::floor(error, 4 * MAX_TEXT)].to_owned());
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes them into a case: the attributes, and as the answer what goes before its log, which is what they said if that
    /// is not what `error` says.
    pub(super) fn mark(&self, case: &mut Case, error: &str) -> String {
        let mut lines = String::new();
        if self.is_empty() {
            return lines;
        }
        set(case, self.count + 1);
        let first = normalise_error(head(error));
        for (index, told) in self.told.iter().enumerate() {
            // One tells the error's type before its message, the other does not.
            let said = normalise_error(told.lines().next().unwrap_or_default());
            if !first.contains(&said) {
                // Writing to a string cannot fail.
                writeln!(lines, "attempt {} failed otherwise: {}", index + 2, head(told)).unwrap_or_default();
            }
        }
        lines
    }
}

/// Says of a case how often it was tried, and how often again.
pub(super) fn set(case: &mut Case, attempts: usize) {
    for (name, value) in [("attempts", attempts), ("retries", attempts - 1)] {
        case.attributes.remove(name);
        attributes::add(&mut case.attributes, name, &value.to_string());
    }
}

/// The first lines of an error, so much as is told of an attempt.
fn head(error: &str) -> &str {
    let error = error.trim();
    let end = error.match_indices('\n').nth(2).map_or(error.len(), |(at, _)| at);
    error[..cut::floor(error, end.min(MAX_TEXT))].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_told_of_an_attempt() {
        let mut attempts = TestAttempts::default();
        for error in ["refused after 12 ms", "no such host\n", ""] {
            attempts.add(error);
        }
        let mut case = Case::default();
        let told = attempts.mark(&mut case, "refused after 7 ms");
        assert_eq!(told, "attempt 3 failed otherwise: no such host\n");
        assert_eq!((&case.attributes["attempts"], &case.attributes["retries"]), ("4", "3"));
    }
}
