//! `pipelines/zone-overlap`: nodes in two zones.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::NodeIx;

pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/zone-overlap",
    level: LintLevel::Warning,
    summary: "a node in two zones",
    manual: include_str!("../../manual/pipelines/zone-overlap.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        for (at, node) in pipeline.nodes.iter().enumerate() {
            let mut zones = pipeline.zones.iter().filter(|zone| zone.nodes.contains(&NodeIx(at)));
            let (Some(first), Some(second)) = (zones.next(), zones.next()) else { continue };
            let message = format!("`{}` is in the zones `{}` and `{}`", *node.name, *first.name, *second.name);
            let found = Diagnostic::warning(RULE.id, message).label(&pipeline.source, second.name.span, "ignored for it");
            let found = found.label(&pipeline.source, first.name.span, "it belongs to this one");
            report.push(found.help("list it in one of them"));
        }
    }
}
