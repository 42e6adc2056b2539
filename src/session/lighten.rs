//! What stays in memory of a launch with many cases: of most only the id.

use crate::model::{Attributes, Case, Launch, Text};
use crate::store::Tellable;

/// Leaves out of the cases of a launch, one after the other, what only the walk of each needs, which reads it from the store,
/// and all of those that no other case is told of.
#[derive(Debug, Default)]
pub(super) struct Lighten(Tellable);

impl Lighten {
    /// All cases of a launch.
    pub(super) fn launch(launch: &mut Launch) {
        let mut lighten = Self::default();
        for case in &mut launch.cases {
            *case = lighten.case(std::mem::take(case));
        }
    }

    /// The next case.
    pub(super) fn case(&mut self, case: Case) -> Case {
        if self.0.next(&case.error_message) {
            Case { log_snippet: Text::default(), attributes: Attributes::default(), ..case }
        } else {
            Case { id: case.id, ..Case::default() }
        }
    }
}
