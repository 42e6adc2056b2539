//! Allows themselves.

mod unknown_rule;
mod unused;
mod without_reason;

use crate::lint::rule::Rule;

/// All of them.
pub(super) const RULES: &[Rule] = &[unknown_rule::RULE, unused::RULE, without_reason::RULE];
