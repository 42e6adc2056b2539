//! Who took a step, and why, of the record of a team.

use crate::walk::{Name, Reason, place_of};
use std::collections::HashMap;

/// Who took a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepWalker {
    /// The walker.
    pub name: Name,
    /// Why, if another took the step before.
    pub because: Option<Reason>,
}

/// Who walks where, as the events tell.
#[derive(Debug, Default)]
pub(super) struct WalkerAssignments {
    /// By case and by what the paths of a walk begin with; with the path of the step of the last change.
    last: HashMap<(Name, Name), (Name, Name, Reason)>,
}

impl WalkerAssignments {
    /// From this step on it is another one.
    pub(super) fn switch(&mut self, case: &Name, path: &Name, to: Name, because: Reason) {
        self.last.insert((case.clone(), place_of(path).into()), (path.clone(), to, because));
    }

    /// Who takes a step. A walk within another that has no team is walked by whoever takes the step around it.
    pub(super) fn at(&self, case: &Name, path: &Name) -> Option<StepWalker> {
        let mut inside = place_of(path);
        loop {
            if let Some((since, name, because)) = self.last.get(&(case.clone(), inside.into())) {
                let because = (since == path).then(|| because.clone());
                return Some(StepWalker { name: name.clone(), because });
            }
            // Of `3/court/`: the place of step 3.
            let around = inside.strip_suffix('/')?.rsplit_once('/')?.0;
            inside = place_of(around);
        }
    }
}
