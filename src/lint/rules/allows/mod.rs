//! Rules about allow comments.

mod unknown_rule;
mod unused;
mod without_reason;

use crate::lint::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[unknown_rule::RULE, unused::RULE, without_reason::RULE];
