//! Rules about what makes scripts slow.

mod call_in_loop;
mod filtered_list;
mod slow_pattern;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[call_in_loop::RULE, filtered_list::RULE, slow_pattern::RULE];
