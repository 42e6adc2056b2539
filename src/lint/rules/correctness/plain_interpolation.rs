//! `correctness/plain-interpolation`: `${..}` in a string literal without interpolation.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/plain-interpolation",
    level: LintLevel::Warning,
    summary: "`${..}` in a plain string, which is not interpolated",
    manual: include_str!("../../manual/correctness/plain-interpolation.md"),
    options: &[],
    check: None,
};
