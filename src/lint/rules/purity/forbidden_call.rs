//! `purity/forbidden-call`: calls with side effects or external input.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "purity/forbidden-call",
    level: LintLevel::Error,
    summary: "a call with side effects or external input: time, printing, evaluation",
    manual: include_str!("../../manual/purity/forbidden-call.md"),
    options: &[],
    check: None,
};
