//! Rules about code that cannot be intended, or does not link.

mod bad_pattern;
mod data_form;
mod hidden_character;
mod missing_return;
mod never_true;
pub(crate) mod prose_condition;
mod repeated_condition;
mod returned_map;
mod same_sides;
mod signature_example;
mod unknown_reference;
mod unreachable;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[
    bad_pattern::RULE,
    data_form::RULE,
    hidden_character::RULE,
    missing_return::RULE,
    never_true::RULE,
    prose_condition::RULE,
    repeated_condition::RULE,
    returned_map::RULE,
    same_sides::RULE,
    signature_example::RULE,
    unknown_reference::RULE,
    unreachable::RULE,
];
