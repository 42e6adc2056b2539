//! Events as lines of JSON, for logs and observers.

use super::event::{Event, EventBody};
use super::walker_assignments::WalkerAssignments;
use serde_json::Value;

/// Makes lines of the events of a run, given in order: each event as recorded, with the id of the run and the walker of its step.
#[derive(Debug, Default)]
pub struct EventLines {
    run: String,
    walkers: WalkerAssignments,
}

impl EventLines {
    pub fn new(run: &str) -> Self {
        Self { run: run.to_owned(), walkers: WalkerAssignments::default() }
    }

    /// The line of an event: an object whose keys are sorted. `seq`: its number in the store.
    pub fn line(&mut self, seq: Option<i64>, event: &Event) -> Value {
        if let EventBody::WalkerSwitch { to, because, .. } = &event.what {
            self.walkers.switch(&event.case, &event.path, to.clone(), because.clone());
        }
        let mut line = serde_json::to_value(event).unwrap_or_default();
        if let Some(fields) = line.as_object_mut() {
            fields.insert("run".into(), self.run.as_str().into());
            fields.extend(seq.map(|seq| ("seq".into(), seq.into())));
            let walker = self.walkers.at(&event.case, &event.path);
            fields.extend(walker.map(|walker| ("walker".into(), walker.name.as_str().into())));
        }
        line
    }
}
