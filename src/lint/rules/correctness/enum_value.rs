//! `correctness/enum-value`: comparisons with a value that is not in the enum.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/enum-value",
    level: LintLevel::Error,
    summary: "a field compared with a value that is not in its enum",
    manual: include_str!("../../manual/correctness/enum-value.md"),
    options: &[],
    check: None,
};
