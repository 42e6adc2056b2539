//! `allows/unknown-rule`: allows of rules that there are not.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. It is looked for after all others, when it is known what each allow took away.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/unknown-rule",
    level: LintLevel::Warning,
    summary: "an allow of a rule that there is not",
    manual: include_str!("../../manual/allows/unknown-rule.md"),
    options: &[],
    check: Some(|_, _| ()),
};
