//! The lines of logs of jobs that passed. A line that they have, too, is not evidence.

use super::system;
use asterisk_base::model::normalise_error;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The maximum bytes of a line that are compared.
const MAX_LINE: usize = 1000;

/// The templates of lines, without numbers, times and addresses.
#[derive(Debug, Default)]
pub(in super::super) struct LogBaseline(HashSet<u64>);

impl LogBaseline {
    /// Adds the lines of a log.
    pub(in super::super) fn add(&mut self, log: &str) {
        let head: Vec<String> = log.lines().take(super::HEAD_LINES).map(str::to_owned).collect();
        let system = system::system_of(&head);
        self.0.extend(log.lines().filter_map(|line| template(&system::line(system, line).text)));
    }

    /// Whether a line, without what the CI system adds, is in the logs.
    pub(in super::super) fn has(&self, line: &str) -> bool {
        !self.0.is_empty() && template(line).is_some_and(|template| self.0.contains(&template))
    }
}

fn template(line: &str) -> Option<u64> {
    let line = line.trim();
    let line = &line[..super::super::cut::floor(line, MAX_LINE)];
    if line.is_empty() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    normalise_error(line).hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_without_numbers_and_times() {
        let mut baseline = LogBaseline::default();
        assert!(!baseline.has("ERROR: retry 1"));
        baseline.add("2026-05-04T10:11:12.1234567Z ##[group]Run make\n2026-05-04T10:11:12.1234567Z ERROR: retry 1 after 20 ms\n");
        assert!(baseline.has("ERROR: retry 2 after 31 ms") && !baseline.has("ERROR: refused"));
    }
}
