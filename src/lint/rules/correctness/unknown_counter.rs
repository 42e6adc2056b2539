//! `correctness/unknown-counter`: counters that nothing counts.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-counter",
    level: LintLevel::Warning,
    summary: "a loop counter that no edge counts",
    manual: include_str!("../../manual/correctness/unknown-counter.md"),
    options: &[],
    check: None,
};
