//! Trimming large launches in memory to what other cases may see.

use asterisk_base::model::{Attributes, Case, Launch, LaunchText};
use asterisk_store::SiblingScope;

/// Removes from the cases of a launch what only their own walk needs, which is read from the store, and drops cases that no other
/// case may see.
#[derive(Debug, Default)]
pub(super) struct LaunchTrimmer(SiblingScope);

impl LaunchTrimmer {
    /// Trims all cases of a launch.
    pub(super) fn launch(launch: &mut Launch) {
        let (mut lighten, all) = (Self::default(), std::mem::take(&mut launch.cases));
        launch.left_out += all.len();
        launch.cases = all.into_iter().filter_map(|case| lighten.case(case)).collect();
        launch.cases.shrink_to_fit();
        launch.left_out -= launch.cases.len();
    }

    /// Trims the next case; `None` if it is dropped.
    pub(super) fn case(&mut self, case: Case) -> Option<Case> {
        let is_visible = self.0.next(&case.error_message);
        is_visible.then(|| Case { log_snippet: LaunchText::default(), attributes: Attributes::default(), ..case })
    }
}
