//! `correctness/unknown-var`: vars that no pipeline declares.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/unknown-var",
    level: LintLevel::Error,
    summary: "a var that the pipeline does not declare",
    manual: include_str!("../../manual/correctness/unknown-var.md"),
    options: &[],
    check: None,
};
