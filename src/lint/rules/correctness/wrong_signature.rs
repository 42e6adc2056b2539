//! `correctness/wrong-signature`: functions with the wrong parameters for their role.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/wrong-signature",
    level: LintLevel::Error,
    summary: "a function with the wrong parameters for its role",
    manual: include_str!("../../manual/correctness/wrong-signature.md"),
    options: &[],
    check: None,
};
