//! `correctness/dropped-value`: values at the end of a block that are discarded, because the function continues after it.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/dropped-value",
    level: LintLevel::Warning,
    summary: "a block whose last value is discarded",
    manual: include_str!("../../manual/correctness/dropped-value.md"),
    options: &[],
    check: None,
};
