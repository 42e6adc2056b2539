//! `correctness/enum-value`: values outside an enum.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/enum-value",
    level: LintLevel::Error,
    summary: "a text field compared with a text that it never is",
    manual: include_str!("../../manual/correctness/enum-value.md"),
    options: &[],
    check: None,
};
