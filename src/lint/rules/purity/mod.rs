//! What a script may know and do.

mod forbidden_call;
mod hidden_nondeterminism;
mod test_call;

use crate::lint::rule::Rule;

/// All of them.
pub(super) const RULES: &[Rule] = &[forbidden_call::RULE, hidden_nondeterminism::RULE, test_call::RULE];
