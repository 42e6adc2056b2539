//! `templates/undeclared-parameter`: undeclared parameters.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "templates/undeclared-parameter",
    level: LintLevel::Error,
    summary: "an unknown parameter, or one that the node does not declare",
    manual: include_str!("../../manual/templates/undeclared-parameter.md"),
    options: &[],
    check: None,
};
