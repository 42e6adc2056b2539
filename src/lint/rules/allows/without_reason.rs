//! `allows/without-reason`: allows that do not say why.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. It is looked for after all others, when it is known what each allow took away.
pub(super) const RULE: LintRule = LintRule {
    id: "allows/without-reason",
    level: LintLevel::Warning,
    summary: "an allow that does not say why",
    manual: include_str!("../../manual/allows/without-reason.md"),
    options: &[],
    check: Some(|_, _| ()),
};
