//! What one input holds, before it is merged with the others.

use super::allure::AllureFile;
use super::logs::ItemLogs;
use super::unique::name_hash;
use crate::model::Launch;
use std::collections::BTreeSet;

/// What one input holds.
#[derive(Debug, Default)]
pub(super) struct InputPart {
    /// The name of the input.
    pub(super) name: String,
    /// Its launch; of inputs with no id of their own, `run_id` is derived from their bytes.
    pub(super) launch: Launch,
    /// It is one page of so many.
    pub(super) page: Option<(u64, u64)>,
    /// It is no launch but holds log entries of one.
    pub(super) logs: Option<ItemLogs>,
    /// It is one file of a launch that is spread over a directory.
    pub(super) allure: Option<AllureFile>,
    /// Hashes of the names of the tests that passed.
    pub(super) passed: Vec<u64>,
    /// Cases, by number, that turned out to be none.
    pub(super) dropped: BTreeSet<usize>,
    /// How many of them failed only because others did.
    pub(super) parents: usize,
}

impl InputPart {
    /// Takes note of a test that passed.
    pub(super) fn passed(&mut self, full_name: &str) {
        self.passed.push(name_hash(full_name));
    }

    /// Lets go of the cases that turned out to be none.
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
