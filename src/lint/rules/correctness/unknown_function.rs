//! `correctness/unknown-function`: calls of undefined functions.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-function",
    level: LintLevel::Error,
    summary: "a function, variable, module or constant that there is not",
    manual: include_str!("../../manual/correctness/unknown-function.md"),
    options: &[],
    check: None,
};
