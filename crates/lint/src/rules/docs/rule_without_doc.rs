//! `docs/rule-without-doc`: functions used by pipelines, but undocumented.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "docs/rule-without-doc",
    level: LintLevel::Warning,
    summary: "an undocumented function that a pipeline refers to",
    manual: include_str!("../../manual/docs/rule-without-doc.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined().filter(|one| !one.unit.is_condition()) {
        let file = cx.library.file(one.unit.name());
        let public = file
            .and_then(|file| file.functions().find(|public| public.name == one.name && public.params.len() == one.inputs.len()));
        if public.is_none_or(|public| !public.doc.is_empty()) {
            continue;
        }
        let Some(function) = one.unit.tree().named().find(|function| function.name() == one.name) else { continue };
        let (source, span) = name_of(one.unit, function);
        let found = Diagnostic::warning(RULE.id, format!("`{}` is not documented", one.name));
        report.push(
            found.label(&source, span, "used by a pipeline").help("write a `///` comment above it: when it fires, and why"),
        );
    }
}
