//! `correctness/no-verdict`: rules that never answer.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/no-verdict",
    level: LintLevel::Error,
    summary: "a rule that never answers with a verdict",
    manual: include_str!("../../manual/correctness/no-verdict.md"),
    options: &[],
    check: None,
};
