//! `pipelines/unused-var`: vars that are never read.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span, nearest};
use asterisk_project::conditions;
use asterisk_script::tree::{Expr, Node};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "pipelines/unused-var",
    level: LintLevel::Warning,
    summary: "a var that no rule and no script reads",
    manual: include_str!("../../manual/pipelines/unused-var.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    // Every property name and every string counts, and thus every way to read a var.
    let mut names: BTreeSet<String> = BTreeSet::new();
    for unit in cx.units.iter().copied().chain(cx.library.conditions()) {
        unit.tree().each(|node| {
            if let Node::Expr(Expr::Property(text, _) | Expr::Text(text, _)) = node {
                names.insert(text.to_string());
            }
        });
    }
    for pipe in &cx.pipelines {
        let pipeline = pipe.pipeline;
        // Texts that do not link may read them.
        let expressions = conditions(pipeline, Some(pipeline.source.name()));
        if !pipe.is_complete() || expressions.iter().any(|one| cx.library.condition(&one.key).is_none()) {
            continue;
        }
        // A typo elsewhere may refer to it.
        let typos =
            pipe.examined.iter().flat_map(|one| one.analysis.diagnostics.iter()).filter(|one| one.code == "rule/unknown-var");
        let typos: Vec<&str> = typos.filter_map(|one| one.primary()).map(|label| label.source.slice(label.span)).collect();
        let meant = |name: &str| typos.iter().any(|typo| nearest(typo, [name]).is_some());
        let of_verdict = |name: &str| pipeline.verdict.iter().any(|verdict| verdict.vars().any(|var| var == name));
        let read = |name: &str| names.contains(name) || of_verdict(name) || meant(name);
        for (name, var) in pipeline.vars.iter().filter(|(name, _)| !read(name)) {
            // The name is written before its value.
            let before = &pipeline.source.text()[..var.default.span.start];
            let place = before.rfind(name.as_str()).map_or(var.default.span, |at| Span::new(at, at + name.len()));
            let found = Diagnostic::warning(RULE.id, format!("nothing reads `vars.{name}`"));
            report.push(
                found.label(&pipeline.source, place, "declared here").help("remove it, or read it where its value is hard-coded"),
            );
        }
    }
}
