//! Checks the rules that judge a whole case: those of verdicts and roots.

use super::linked_pipeline::ProjectLinker;
use super::{ProjectData, kinds, vars};
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostics;
use asterisk_script::ScriptFunction;
use asterisk_script::check::{CheckedParameter, ReturnedValue};
use std::cell::OnceCell;

/// The types of the inputs of such rules, the same for all of a pipeline: made when the first of them is checked.
pub(super) type CaseKinds = OnceCell<[(&'static str, Kind); 3]>;

impl ProjectLinker<'_> {
    /// Checks a rule of a verdict or of roots against the types of its inputs, unless that was done when the program was built.
    pub(super) fn check_rule(
        &self,
        function: &ScriptFunction,
        (data, kinds): (&ProjectData, &CaseKinds),
        returned: ReturnedValue<'_>,
        found: &mut Diagnostics,
    ) {
        if self.is_checked(function) {
            return;
        }
        let words = |known| kinds::known_words(self.pipeline, data, known);
        let inputs = kinds.get_or_init(|| {
            let needs = self.pipeline.verdict.as_ref().map_or(&[][..], |verdict| &verdict.needs);
            let (evidence, context) = (kinds::evidence(&words), kinds::context(needs, &words));
            [("evidence", evidence), ("context", context), ("vars", vars::kind(self.pipeline, self.vars))]
        });
        let inputs = inputs.each_ref().map(|(name, kind)| CheckedParameter { name, kind });
        Self::report(self.library.check_returning(function, &inputs, returned).diagnostics, found);
    }
}
