//! `correctness/dropped-value`: values at the end of a block that the function goes on behind.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/dropped-value",
    level: LintLevel::Warning,
    summary: "a block that ends with a value which nothing takes",
    manual: include_str!("../../manual/correctness/dropped-value.md"),
    options: &[],
    check: None,
};
