//! Rules about prompt templates.

mod clock_planes;
mod missing_guard;
mod undeclared_parameter;
mod unfenced_text;
mod unused_template;

use crate::lint::rule::LintRule;

pub(super) const RULES: &[LintRule] =
    &[clock_planes::RULE, missing_guard::RULE, undeclared_parameter::RULE, unfenced_text::RULE, unused_template::RULE];
