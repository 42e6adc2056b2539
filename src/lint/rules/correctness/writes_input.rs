//! `correctness/writes-input`: writes to inputs.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/writes-input",
    level: LintLevel::Error,
    summary: "a write to an input",
    manual: include_str!("../../manual/correctness/writes-input.md"),
    options: &[],
    check: None,
};
