//! Rules about prompt templates.

mod clock_planes;
mod missing_guard;
mod unfenced_text;
mod unused_template;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[clock_planes::RULE, missing_guard::RULE, unfenced_text::RULE, unused_template::RULE];
