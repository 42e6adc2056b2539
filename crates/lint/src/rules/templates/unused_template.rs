//! `templates/unused-template`: templates that are never used.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};
use asterisk_pipeline::PipelineNode;
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "templates/unused-template",
    level: LintLevel::Note,
    summary: "a template that nothing uses",
    manual: include_str!("../../manual/templates/unused-template.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    if !cx.whole {
        return;
    }
    let included: BTreeSet<String> = cx.templates.paths().flat_map(|path| cx.templates.includes(path)).collect();
    for path in cx.templates.paths().filter(|path| !included.contains(*path)) {
        let prompts = |node: &PipelineNode| {
            node.prompt.as_ref().map_or_else(|| format!("{}.md", *node.family), |prompt| prompt.value.clone())
        };
        if cx.pipelines.iter().any(|pipe| pipe.pipeline.nodes.iter().any(|node| prompts(node) == path)) {
            continue;
        }
        let Some(source) = cx.templates.get(path).map(|template| template.source().clone()) else { continue };
        let end = source.text().lines().next().map_or(0, str::len);
        let found =
            Diagnostic::warning(RULE.id, format!("nothing uses `{path}`")).label(&source, Span::new(0, end), "this template");
        report.push(found.help("reference it in a node's `prompt:`, include it, or remove it"));
    }
}
