//! Rules about code that cannot be intended, or does not link.

mod absent_field;
mod bad_pattern;
mod compare_types;
mod data_form;
mod dropped_value;
mod enum_value;
mod hidden_character;
mod missing_return;
mod never_true;
mod no_verdict;
mod pipeline_form;
mod plain_interpolation;
pub(in crate::lint) mod prose_condition;
mod repeated_condition;
mod returned_map;
mod same_sides;
mod signature_example;
mod syntax;
mod unknown_counter;
mod unknown_field;
mod unknown_function;
mod unknown_reference;
mod unknown_var;
mod unreachable;
mod writes_input;
mod wrong_signature;

use crate::lint::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[
    absent_field::RULE,
    bad_pattern::RULE,
    compare_types::RULE,
    data_form::RULE,
    dropped_value::RULE,
    enum_value::RULE,
    hidden_character::RULE,
    missing_return::RULE,
    never_true::RULE,
    no_verdict::RULE,
    pipeline_form::RULE,
    plain_interpolation::RULE,
    prose_condition::RULE,
    repeated_condition::RULE,
    returned_map::RULE,
    same_sides::RULE,
    signature_example::RULE,
    syntax::RULE,
    unknown_counter::RULE,
    unknown_field::RULE,
    unknown_function::RULE,
    unknown_reference::RULE,
    unknown_var::RULE,
    unreachable::RULE,
    writes_input::RULE,
    wrong_signature::RULE,
];
