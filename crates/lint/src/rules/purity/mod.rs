//! Rules about purity.

mod hidden_nondeterminism;
mod test_call;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[hidden_nondeterminism::RULE, test_call::RULE];
