//! `verdicts/no-reason`: returned maps without a reason.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/no-reason",
    level: LintLevel::Warning,
    summary: "a returned map without a reason",
    manual: include_str!("../../manual/verdicts/no-reason.md"),
    options: &[],
    check: None,
};
