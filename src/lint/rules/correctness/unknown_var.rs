//! `correctness/unknown-var`: vars that no pipeline declares.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-var",
    level: LintLevel::Error,
    summary: "a var that the pipeline does not declare",
    manual: include_str!("../../manual/correctness/unknown-var.md"),
    options: &[],
    check: None,
};
