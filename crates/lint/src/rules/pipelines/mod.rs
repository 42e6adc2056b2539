//! Rules about the style of pipelines.

mod naming;
mod node_without_zone;
mod unused_function;
mod unused_var;
mod zone_overlap;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] =
    &[naming::RULE, node_without_zone::RULE, unused_function::RULE, unused_var::RULE, zone_overlap::RULE];
