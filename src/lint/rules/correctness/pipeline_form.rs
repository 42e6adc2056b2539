//! `correctness/pipeline-form`: pipelines that cannot be read.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking looks for it.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/pipeline-form",
    level: LintLevel::Error,
    summary: "a pipeline that says what cannot be said",
    manual: include_str!("../../manual/correctness/pipeline-form.md"),
    options: &[],
    check: None,
};
