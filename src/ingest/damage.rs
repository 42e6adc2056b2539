//! What of an input could not be read, place by place: one damaged test costs a note, not the file.

use crate::model::{Launch, counted};

/// How many places are told.
const MAX_TOLD: usize = 10;

/// Damaged places of an input, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DamageLog {
    told: Vec<(usize, String)>,
    count: usize,
}

impl DamageLog {
    /// Records what is wrong at a line, counted from 1.
    pub(super) fn add(&mut self, line: usize, what: impl Into<String>) {
        self.count += 1;
        if self.told.len() < MAX_TOLD {
            self.told.push((line, what.into()));
        }
    }

    /// Notes each place as `FILE:LINE: what`; failures may be missing there.
    pub(super) fn note(self, file: &str, launch: &mut Launch) {
        let more = self.count - self.told.len();
        for (line, what) in self.told {
            launch.gap(format!("{file}:{line}: {what}"));
        }
        if more > 0 {
            launch.gap(format!("{file}: {} damaged", counted(more, "more place is", "more places are")));
        }
    }
}
