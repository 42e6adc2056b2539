//! `purity/forbidden-call`: calls that would let the outside in.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "purity/forbidden-call",
    level: LintLevel::Error,
    summary: "a call that would let the outside in: time, printing, evaluation",
    manual: include_str!("../../manual/purity/forbidden-call.md"),
    options: &[],
    check: None,
};
