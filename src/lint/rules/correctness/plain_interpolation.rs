//! `correctness/plain-interpolation`: `${..}` between quotes that take it as it is written.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/plain-interpolation",
    level: LintLevel::Warning,
    summary: "`${..}` in a text between plain quotes",
    manual: include_str!("../../manual/correctness/plain-interpolation.md"),
    options: &[],
    check: None,
};
