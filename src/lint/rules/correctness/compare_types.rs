//! `correctness/compare-types`: numbers compared with strings, and their like.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/compare-types",
    level: LintLevel::Error,
    summary: "values of different types compared: a number with a string",
    manual: include_str!("../../manual/correctness/compare-types.md"),
    options: &[],
    check: None,
};
