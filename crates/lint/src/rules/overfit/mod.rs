//! Rules about code that fits only one case.

mod hard_coded_id;
mod named_case;
mod one_case_literal;
mod one_case_pattern;
mod ticket_id;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] =
    &[hard_coded_id::RULE, named_case::RULE, one_case_literal::RULE, one_case_pattern::RULE, ticket_id::RULE];
