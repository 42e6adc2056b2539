//! The walkers of recorded steps, and the reasons of changes.

use super::name::{Name, Reason};
use super::path::place_of;
use std::collections::HashMap;

/// The walker of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepWalker {
    pub name: Name,
    /// The reason, if the walker changed.
    pub because: Option<Reason>,
}

/// The current walkers, folded from events.
#[derive(Debug, Default)]
pub struct WalkerAssignments {
    /// By case and path prefix: the walker, the path of the step that it changed at, and the reason.
    last: HashMap<(Name, Name), (Name, Name, Reason)>,
}

impl WalkerAssignments {
    /// Sets the walker from a step on.
    pub fn switch(&mut self, case: &Name, path: &Name, to: Name, because: Reason) {
        self.last.insert((case.clone(), place_of(path).into()), (path.clone(), to, because));
    }

    /// The walker of a step. An inner walk without a team has the walker of the enclosing step.
    pub fn at(&self, case: &Name, path: &Name) -> Option<StepWalker> {
        if self.last.is_empty() {
            return None;
        }
        let mut inside = place_of(path);
        loop {
            if let Some((since, name, because)) = self.last.get(&(case.clone(), inside.into())) {
                let because = (since == path).then(|| because.clone());
                return Some(StepWalker { name: name.clone(), because });
            }
            // Of `3/court/`, the place of step 3.
            let around = inside.strip_suffix('/')?.rsplit_once('/')?.0;
            inside = place_of(around);
        }
    }
}
