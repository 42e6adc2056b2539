//! Rules about routing.

mod dead_edge;
mod dead_fallback;
mod idle_advisory;
mod no_exit;
mod overlapping_conditions;
mod target_outside;
mod unbounded_loop;
mod unreachable_node;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[
    dead_edge::RULE,
    dead_fallback::RULE,
    idle_advisory::RULE,
    no_exit::RULE,
    overlapping_conditions::RULE,
    target_outside::RULE,
    unbounded_loop::RULE,
    unreachable_node::RULE,
];
