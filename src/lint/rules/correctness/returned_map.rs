//! `correctness/returned-map`: a returned map with a key or a value that its reader refuses.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/returned-map",
    level: LintLevel::Error,
    summary: "a returned map with a key or a value that its reader refuses",
    manual: include_str!("../../manual/correctness/returned-map.md"),
    options: &[],
    check: None,
};
