//! Unreadable places of an input: one damaged test costs a note, not the file.

use asterisk_base::model::Launch;
use asterisk_diag::counted;

/// The maximum number of places noted one by one.
const MAX_PLACES: usize = 10;

/// Damaged places of an input, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DamageLog {
    places: Vec<(usize, String)>,
    count: usize,
}

impl DamageLog {
    /// Records what is wrong at a line, counted from 1; 0 if it is not known.
    pub(super) fn add(&mut self, line: usize, what: impl Into<String>) {
        self.count += 1;
        if self.places.len() < MAX_PLACES {
            self.places.push((line, what.into()));
        }
    }

    /// Notes each place as `FILE:LINE: what`; failures may be missing there.
    pub(super) fn note(self, file: &str, launch: &mut Launch) {
        let more = self.count - self.places.len();
        for (line, what) in self.places {
            launch.gap(if line == 0 { format!("{file}: {what}") } else { format!("{file}:{line}: {what}") });
        }
        if more > 0 {
            launch.gap(format!("{file}: {} damaged", counted(more, "more place is", "more places are")));
        }
    }
}
