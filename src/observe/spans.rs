//! When steps begin: what is open at any time, so that an end has its beginning.

use crate::clock::Timestamp;
use crate::walk::{Event, Name, What};
use std::collections::HashMap;

/// The steps under way, by case and path.
#[derive(Default)]
pub(super) struct Spans(HashMap<Name, HashMap<Name, Timestamp>>);

/// A step that ended.
pub(super) struct Span<'e> {
    pub(super) node: &'e Name,
    pub(super) began: Timestamp,
    /// Who answered; nobody if it failed.
    pub(super) by: Option<&'e Name>,
}

impl Spans {
    /// Takes an event in; the step that it ends, if it ends one.
    pub(super) fn event<'e>(&mut self, event: &'e Event) -> Option<Span<'e>> {
        let (node, by) = match &event.what {
            What::NodeEnter { .. } => {
                self.0.entry(event.case.clone()).or_default().insert(event.path.clone(), event.at);
                return None;
            }
            What::NodeExit { node, by, .. } => (node, Some(by)),
            What::WalkError { node, .. } => (node, None),
            _ => return None,
        };
        // A step whose edges fail after its answer has ended already.
        let began = self.0.get_mut(&event.case)?.remove(&event.path)?;
        Some(Span { node, began, by })
    }

    /// Forgets a case.
    pub(super) fn case_over(&mut self, case: &str) {
        self.0.remove(case);
    }
}
