//! `correctness/no-verdict`: rules that never return an outcome.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/no-verdict",
    level: LintLevel::Error,
    summary: "a rule whose return value is not an outcome",
    manual: include_str!("../../manual/correctness/no-verdict.md"),
    options: &[],
    check: None,
};
