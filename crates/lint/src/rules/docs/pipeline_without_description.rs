//! `docs/pipeline-without-description`: pipelines without a description.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "docs/pipeline-without-description",
    level: LintLevel::Note,
    summary: "a pipeline without a description",
    manual: include_str!("../../manual/docs/pipeline-without-description.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in cx.pipelines.iter().filter(|pipe| pipe.pipeline.description.trim().is_empty()) {
        let name = &pipe.pipeline.name;
        let found = Diagnostic::warning(RULE.id, format!("`{}` is missing a description", **name));
        report.push(found.label(&pipe.pipeline.source, name.span, "this pipeline").help("add a line `description: ...`"));
    }
}
