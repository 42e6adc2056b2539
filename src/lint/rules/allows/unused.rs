//! `allows/unused`: allow comments that suppress nothing.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked after all other rules, by `allow`.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/unused",
    level: LintLevel::Warning,
    summary: "an allow comment that suppresses nothing",
    manual: include_str!("../../manual/allows/unused.md"),
    options: &[],
    check: Some(|_, _| ()),
};
