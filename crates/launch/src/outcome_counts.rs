//! Counts the outcomes of a launch's tests, and notes at its end which were flaky and which failures are missing.

use super::InputPart;
use super::texts::TextBudget;
use asterisk_base::model::{Launch, TestOutcome};

/// The maximum number of flaky tests named in the note.
const MAX_NAMES: usize = 10;

/// Counts next to the launch's totals.
#[derive(Debug, Default)]
pub(super) struct OutcomeCounts {
    /// The names of the first flaky tests.
    flaky: Vec<String>,
    flaky_count: usize,
    /// The number of failures declared by the input, and of those read.
    pub(super) declared: u64,
    pub(super) failing: u64,
    /// The number of tests declared by the input, and of those read.
    pub(super) declared_tests: u64,
    pub(super) tests: u64,
    /// Whether the input says that the run failed.
    pub(super) says_failed: bool,
}

impl OutcomeCounts {
    /// Counts a test that was not seen before.
    pub(super) fn first(&mut self, part: &mut InputPart, outcome: TestOutcome, full_name: &str) {
        part.count("total", 1);
        part.count(total_of(outcome), 1);
        if matches!(outcome, TestOutcome::Passed | TestOutcome::Flaky) {
            part.passed(full_name);
        }
        if outcome == TestOutcome::Flaky {
            self.add_flaky(full_name);
        }
    }

    /// Drops the case of a failed test that passed in a later attempt, and counts the test as flaky.
    pub(super) fn failure_passed(&mut self, part: &mut InputPart, case: Option<usize>, full_name: &str) {
        part.dropped.extend(case);
        part.count("failed", -1);
        part.count("passed", 1);
        part.passed(full_name);
        self.add_flaky(full_name);
    }

    /// Counts a test as failed that had another outcome before.
    pub(super) fn became_failure(&mut self, part: &mut InputPart, before: TestOutcome, full_name: &str) {
        part.count(total_of(before), -1);
        part.count("failed", 1);
        if before == TestOutcome::Flaky {
            self.flaky_count = self.flaky_count.saturating_sub(1);
            self.flaky.retain(|name| name != full_name);
        }
    }

    /// Counts a flaky test.
    pub(super) fn add_flaky(&mut self, name: &str) {
        self.flaky_count += 1;
        if self.flaky.len() < MAX_NAMES {
            self.flaky.push(name.to_owned());
        }
    }

    /// Sets the launch's status, and notes flaky tests, missing failures and cut texts. Whether a launch without failures passed is
    /// unknown if its end is missing.
    pub(super) fn finish(&self, launch: &mut Launch, texts: &TextBudget, is_cut: bool) {
        let is_doubtful =
            is_cut || self.declared > self.failing || self.declared_tests > self.tests || self.says_failed && self.failing == 0;
        launch.status = match (launch.cases.is_empty(), is_doubtful) {
            (false, _) => Some("FAILED".to_owned()),
            (true, false) => Some("PASSED".to_owned()),
            (true, true) => None,
        };
        if self.flaky_count > 0 {
            let noun = if self.flaky_count == 1 { "test" } else { "tests" };
            let mut shown: Vec<String> = self.flaky.iter().map(|name| format!("`{name}`")).collect();
            if self.flaky_count > shown.len() {
                shown.push(format!("{} more", self.flaky_count - shown.len()));
            }
            launch.notes.push(format!("{} flaky {noun} passed when tried again: {}", self.flaky_count, shown.join(", ")));
            launch.totals.insert("flaky".to_owned(), self.flaky_count as u64);
        }
        if self.declared > self.failing {
            launch.gap(format!("the file counts {} failures, but has {}", self.declared, self.failing));
        } else if self.says_failed && self.failing == 0 {
            launch.gap("the file says that the run failed, but has no failure".to_owned());
        }
        if self.declared_tests > self.tests {
            launch.gap(format!("the file counts {} tests, but has {}", self.declared_tests, self.tests));
        }
        launch.notes.extend(texts.notes());
    }
}

/// The total of the launch that counts an outcome.
fn total_of(outcome: TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Failed | TestOutcome::Error => "failed",
        TestOutcome::Skipped => "skipped",
        TestOutcome::Passed | TestOutcome::Flaky => "passed",
    }
}
