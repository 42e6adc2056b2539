//! `correctness/data-form`: invalid data files.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/data-form",
    level: LintLevel::Error,
    summary: "a data file or vocabulary that does not hold together",
    manual: include_str!("../../manual/correctness/data-form.md"),
    options: &[],
    check: None,
};
