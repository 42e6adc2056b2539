//! `allows/unknown-rule`: allow comments that name an unknown rule.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked after all other rules, by `allow`.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/unknown-rule",
    level: LintLevel::Warning,
    summary: "an allow comment for an unknown rule",
    manual: include_str!("../../manual/allows/unknown-rule.md"),
    options: &[],
    check: Some(|_, _| ()),
};
