//! `correctness/unknown-function`: calls of undefined functions.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-function",
    level: LintLevel::Error,
    summary: "an unknown function, variable, module or constant",
    manual: include_str!("../../manual/correctness/unknown-function.md"),
    options: &[],
    check: None,
};
