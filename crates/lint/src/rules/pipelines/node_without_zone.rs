//! `pipelines/node-without-zone`: nodes without a zone.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/node-without-zone",
    level: LintLevel::Note,
    summary: "a node without a zone, in a pipeline with zones",
    manual: include_str!("../../manual/pipelines/node-without-zone.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in cx.pipelines.iter().filter(|pipe| !pipe.pipeline.zones.is_empty()) {
        let pipeline = pipe.pipeline;
        for node in pipeline.nodes.iter().filter(|node| node.zone.is_none()) {
            let zones: Vec<String> = pipeline.zones.iter().map(|zone| format!("`{}`", *zone.name)).collect();
            let found = Diagnostic::warning(RULE.id, format!("`{}` is not in a zone", *node.name));
            let found = found.label(&pipeline.source, node.name.span, "without a zone");
            report.push(found.help(format!("list it in one of {}", zones.join(", "))));
        }
    }
}
