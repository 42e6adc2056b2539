//! `correctness/pipeline-form`: pipelines that do not parse.

use crate::lint::rule::{LintLevel, LintRule};

/// Checked by linking.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/pipeline-form",
    level: LintLevel::Error,
    summary: "an invalid pipeline",
    manual: include_str!("../../manual/correctness/pipeline-form.md"),
    options: &[],
    check: None,
};
