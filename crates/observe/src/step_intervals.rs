//! The intervals of steps: matches their beginnings and ends.

use asterisk_base::clock::Timestamp;
use asterisk_walk::{Event, EventBody, Name};
use std::collections::{BTreeMap, HashMap};

/// The steps in progress, by case and path.
#[derive(Default)]
pub(super) struct Spans(HashMap<Name, BTreeMap<Name, (Name, Timestamp)>>);

/// A step that ended.
pub(super) struct StepInterval {
    pub(super) path: Name,
    pub(super) node: Name,
    pub(super) began: Timestamp,
    /// The kind of answerer; `None` if it failed.
    pub(super) by: Option<Name>,
}

impl Spans {
    /// Applies an event, and returns the step that it ends, if any.
    pub(super) fn event(&mut self, event: &Event) -> Option<StepInterval> {
        let by = match &event.what {
            EventBody::NodeEnter { node } => {
                self.0.entry(event.case.clone()).or_default().insert(event.path.clone(), (node.clone(), event.at));
                return None;
            }
            EventBody::NodeExit { by, .. } => Some(by.clone()),
            EventBody::WalkError { .. } => None,
            _ => return None,
        };
        // A step whose edges fail after its answer has ended already.
        let (path, (node, began)) = self.0.get_mut(&event.case)?.remove_entry(&event.path)?;
        Some(StepInterval { path, node, began, by })
    }

    /// Forgets a case. Returns its open steps: those around a walk that failed or was stopped.
    pub(super) fn case_over(&mut self, case: &str) -> Vec<StepInterval> {
        let open = self.0.remove(case).unwrap_or_default().into_iter();
        open.map(|(path, (node, began))| StepInterval { path, node, began, by: None }).collect()
    }
}
