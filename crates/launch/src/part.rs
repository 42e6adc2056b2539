//! The contents of one input, before it is merged with others.

use super::allure::AllureFile;
use super::logs::ItemLogs;
use super::unique::name_hash;
use asterisk_base::model::Launch;
use std::collections::BTreeSet;

/// The contents of one input.
#[derive(Debug, Default)]
pub(super) struct InputPart {
    pub(super) name: String,
    /// Its launch; if the input has no id of its own, `run_id` is derived from its bytes.
    pub(super) launch: Launch,
    /// The page number and the number of pages, if it is a page.
    pub(super) page: Option<(u64, u64)>,
    /// Log entries, if it holds these instead of a launch.
    pub(super) logs: Option<ItemLogs>,
    /// One file of a launch that is spread over a directory.
    pub(super) allure: Option<AllureFile>,
    /// Whether it is the log of a job, next to which a report of the same tests counts more.
    pub(super) is_job_log: bool,
    /// Whether it has only notes on the launch of another input.
    pub(super) is_notes: bool,
    /// Whether it lists no test that passed, as pages of failures do.
    pub(super) only_failures: bool,
    /// Hashes of the names of the tests that passed.
    pub(super) passed: Vec<u64>,
    /// Indexes of cases to drop.
    pub(super) dropped: BTreeSet<usize>,
    /// How many of them failed only because of subtests.
    pub(super) parents: usize,
}

impl InputPart {
    /// Changes a total of the launch.
    pub(super) fn count(&mut self, outcome: &str, by: i64) {
        let total = self.launch.totals.entry(outcome.to_owned()).or_default();
        *total = total.saturating_add_signed(by);
    }

    /// Records a test that passed.
    pub(super) fn passed(&mut self, full_name: &str) {
        self.passed.push(name_hash(full_name));
    }

    /// Drops the cases marked in `dropped`.
    pub(super) fn drop_marked(&mut self) {
        if self.parents > 0 {
            let many = if self.parents == 1 { "test that failed" } else { "tests that failed" };
            self.launch.notes.push(format!("{} {many} because subtests did left out", self.parents));
        }
        let mut index = 0;
        let dropped = std::mem::take(&mut self.dropped);
        self.launch.cases.retain(|_| {
            index += 1;
            !dropped.contains(&(index - 1))
        });
    }
}
