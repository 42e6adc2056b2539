//! `correctness/unknown-counter`: counters that no edge increments.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-counter",
    level: LintLevel::Warning,
    summary: "a loop counter that no edge increments",
    manual: include_str!("../../manual/correctness/unknown-counter.md"),
    options: &[],
    check: None,
};
