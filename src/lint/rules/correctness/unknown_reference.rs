//! `correctness/unknown-reference`: names of what is not there.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-reference",
    level: LintLevel::Error,
    summary: "a file, node, template or query that there is not",
    manual: include_str!("../../manual/correctness/unknown-reference.md"),
    options: &[],
    check: None,
};
