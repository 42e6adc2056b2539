//! The intervals of steps: matches their beginnings and ends.

use asterisk_base::clock::Timestamp;
use asterisk_walk::{Event, EventBody, Name};
use std::collections::HashMap;

/// The nodes and beginnings of the steps in progress, by case and path.
#[derive(Default)]
pub(super) struct StepIntervals(HashMap<Name, HashMap<Name, (Name, Timestamp)>>);

impl StepIntervals {
    /// Applies an event. Returns node and beginning of the step that it shows to be answered, if any.
    pub(super) fn event(&mut self, event: &Event) -> Option<(Name, Timestamp)> {
        match &event.what {
            EventBody::NodeEnter { node } => {
                self.0.entry(event.case.clone()).or_default().insert(event.path.clone(), (node.clone(), event.at));
                None
            }
            EventBody::NodeExit { .. } => self.0.get_mut(&event.case)?.remove(&event.path),
            _ => None,
        }
    }

    /// Forgets a case.
    pub(super) fn case_over(&mut self, case: &str) {
        self.0.remove(case);
    }
}
