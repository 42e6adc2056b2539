//! Rules about documentation and tests.

mod pipeline_without_description;
mod rule_without_doc;
mod test_without_assertion;

use crate::rule::LintRule;

pub(super) const RULES: &[LintRule] = &[pipeline_without_description::RULE, rule_without_doc::RULE, test_without_assertion::RULE];
