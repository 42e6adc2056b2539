//! `correctness/writes-input`: inputs that are written to.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/writes-input",
    level: LintLevel::Error,
    summary: "an input is written to",
    manual: include_str!("../../manual/correctness/writes-input.md"),
    options: &[],
    check: None,
};
