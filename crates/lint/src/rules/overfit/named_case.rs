//! `overfit/named-case`: decisions that depend on the name of one test.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_script::check::Operand;

pub(super) const RULE: LintRule = LintRule {
    id: "overfit/named-case",
    level: LintLevel::Warning,
    summary: "a script that decides by the name of one test, launch or case",
    manual: include_str!("../../manual/overfit/named-case.md"),
    options: &[],
    check: Some(check),
};

/// The fields that identify a case.
const NAMES: [&str; 8] = [
    "params.failure.name",
    "params.failure.id",
    "params.failure.recall_key",
    "params.identity.case",
    "params.identity.run",
    "params.envelope.run_id",
    "params.envelope.name",
    "params.git.commit",
];

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined() {
        for compared in &one.analysis.facts.compared {
            let ((Operand { path: Some(path), .. }, Operand { text: Some(text), span, .. })
            | (Operand { text: Some(text), span, .. }, Operand { path: Some(path), .. })) = (&compared.left, &compared.right)
            else {
                continue;
            };
            if text.is_empty() || !NAMES.contains(&path.as_str()) {
                continue;
            }
            let found = Diagnostic::warning(RULE.id, format!("this decides for one case: `{path}` is compared with a name"));
            let found = found.label(&compared.source, *span, "one case");
            report.push(found.help("decide by the error or the log"));
        }
    }
}
