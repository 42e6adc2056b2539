//! `correctness/syntax`: texts that do not parse.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/syntax",
    level: LintLevel::Error,
    summary: "a script, pipeline, template or data file that cannot be parsed",
    manual: include_str!("../../manual/correctness/syntax.md"),
    options: &[],
    check: None,
};
