//! `correctness/unknown-reference`: references to undefined names.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-reference",
    level: LintLevel::Error,
    summary: "a file, node, template or query that there is not",
    manual: include_str!("../../manual/correctness/unknown-reference.md"),
    options: &[],
    check: None,
};
