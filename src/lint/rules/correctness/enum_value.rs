//! `correctness/enum-value`: comparisons with a value that is not in the enum.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/enum-value",
    level: LintLevel::Error,
    summary: "a text field compared with a text that it never is",
    manual: include_str!("../../manual/correctness/enum-value.md"),
    options: &[],
    check: None,
};
