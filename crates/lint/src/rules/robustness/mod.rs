//! Rules about robustness.

mod bool_comparison;
mod deep_nesting;
mod empty_catch;
mod float_equality;
mod magic_threshold;
mod overlong_function;
mod shadowed_name;
mod throw_in_rule;
mod unguarded_index;
mod unguarded_optional;
mod unused_import;
mod unused_variable;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[
    bool_comparison::RULE,
    deep_nesting::RULE,
    empty_catch::RULE,
    float_equality::RULE,
    magic_threshold::RULE,
    overlong_function::RULE,
    shadowed_name::RULE,
    throw_in_rule::RULE,
    unguarded_index::RULE,
    unguarded_optional::RULE,
    unused_import::RULE,
    unused_variable::RULE,
];
