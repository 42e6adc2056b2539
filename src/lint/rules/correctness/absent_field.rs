//! `correctness/absent-field`: reads of fields that may be absent.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/absent-field",
    level: LintLevel::Error,
    summary: "a read of a field that may be absent",
    manual: include_str!("../../manual/correctness/absent-field.md"),
    options: &[],
    check: None,
};
