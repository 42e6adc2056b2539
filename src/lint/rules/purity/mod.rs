//! What a script may know and do.

mod forbidden_call;
mod hidden_nondeterminism;
mod test_call;

use crate::lint::rule::LintRule;

/// All of them.
pub(super) const RULES: &[LintRule] = &[forbidden_call::RULE, hidden_nondeterminism::RULE, test_call::RULE];
