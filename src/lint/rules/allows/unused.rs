//! `allows/unused`: allows of what is not found.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. It is looked for after all others, when it is known what each allow took away.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/unused",
    level: LintLevel::Warning,
    summary: "an allow of something that is not found there",
    manual: include_str!("../../manual/allows/unused.md"),
    options: &[],
    check: Some(|_, _| ()),
};
