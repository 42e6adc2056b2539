//! `correctness/data-form`: data files that do not hold together.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/data-form",
    level: LintLevel::Error,
    summary: "a data file or vocabulary that does not hold together",
    manual: include_str!("../../manual/correctness/data-form.md"),
    options: &[],
    check: None,
};
