//! `correctness/wrong-signature`: functions that their role cannot call.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/wrong-signature",
    level: LintLevel::Error,
    summary: "a function that takes other parameters than its role gives",
    manual: include_str!("../../manual/correctness/wrong-signature.md"),
    options: &[],
    check: None,
};
