//! What stays in memory of a launch with many cases: those that others are told of.

use crate::model::{Attributes, Case, Launch, LaunchText};
use crate::store::SiblingScope;

/// Leaves out of the cases of a launch, one after the other, what only the walk of each needs, which reads it from the store,
/// and all of those that no other case is told of.
#[derive(Debug, Default)]
pub(super) struct LaunchTrimmer(SiblingScope);

impl LaunchTrimmer {
    /// All cases of a launch.
    pub(super) fn launch(launch: &mut Launch) {
        let (mut lighten, all) = (Self::default(), std::mem::take(&mut launch.cases));
        launch.left_out += all.len();
        launch.cases = all.into_iter().filter_map(|case| lighten.case(case)).collect();
        launch.cases.shrink_to_fit();
        launch.left_out -= launch.cases.len();
    }

    /// What stays of the next case, if anything does.
    pub(super) fn case(&mut self, case: Case) -> Option<Case> {
        let told = self.0.next(&case.error_message);
        told.then(|| Case { log_snippet: LaunchText::default(), attributes: Attributes::default(), ..case })
    }
}
