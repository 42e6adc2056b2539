//! Rules about purity.

mod forbidden_call;
mod hidden_nondeterminism;
mod test_call;

use crate::lint::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[forbidden_call::RULE, hidden_nondeterminism::RULE, test_call::RULE];
