//! `correctness/compare-types`: comparisons of values of different types.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/compare-types",
    level: LintLevel::Error,
    summary: "a comparison of values of different types",
    manual: include_str!("../../manual/correctness/compare-types.md"),
    options: &[],
    check: None,
};
