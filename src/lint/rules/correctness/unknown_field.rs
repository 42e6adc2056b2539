//! `correctness/unknown-field`: fields that no schema declares.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-field",
    level: LintLevel::Error,
    summary: "a field that the node's schema does not declare",
    manual: include_str!("../../manual/correctness/unknown-field.md"),
    options: &[],
    check: None,
};
