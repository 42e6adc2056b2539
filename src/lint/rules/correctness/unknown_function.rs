//! `correctness/unknown-function`: calls of what is not there.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-function",
    level: LintLevel::Error,
    summary: "a function, variable, module or constant that there is not",
    manual: include_str!("../../manual/correctness/unknown-function.md"),
    options: &[],
    check: None,
};
