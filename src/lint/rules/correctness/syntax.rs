//! `correctness/syntax`: what cannot be parsed.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/syntax",
    level: LintLevel::Error,
    summary: "what cannot be parsed: scripts, pipelines, templates and data",
    manual: include_str!("../../manual/correctness/syntax.md"),
    options: &[],
    check: None,
};
