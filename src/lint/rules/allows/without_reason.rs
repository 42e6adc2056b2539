//! `allows/without-reason`: allow comments without a reason.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked after all other rules, by `allow`.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/without-reason",
    level: LintLevel::Warning,
    summary: "an allow comment without a reason",
    manual: include_str!("../../manual/allows/without-reason.md"),
    options: &[],
    check: Some(|_, _| ()),
};
