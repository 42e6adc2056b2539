//! `robustness/unused-import`: imports whose functions and constants nothing uses.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Span};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/unused-import",
    level: LintLevel::Warning,
    summary: "an import that nothing uses",
    manual: include_str!("../../manual/robustness/unused-import.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        let script = unit.script();
        let lexemes = unit.tokens().lexemes();
        let word = |at: usize| lexemes.get(at).map_or("", |one| &script[one.span.start..one.span.end]);
        for at in (0..lexemes.len()).filter(|at| word(*at) == "import" && word(*at + 2) == "as") {
            let name = word(at + 3);
            let used = (0..lexemes.len()).any(|other| other != at + 3 && word(other) == name && word(other + 1) == "::");
            if used || name.is_empty() {
                continue;
            }
            let (from, to) = (lexemes[at].span.start, lexemes[at + 3].span.end);
            let (source, span) = unit.locate(Span::new(from, to));
            let found = Diagnostic::warning(RULE.id, format!("nothing uses the import `{name}`"));
            let found = found.label(&source, span, "never used").help("remove it");
            // Includes the semicolon and the line break.
            let rest = &source.text()[span.end..];
            let tail = rest.len() - rest.trim_start_matches([';', ' ']).strip_prefix('\n').map_or(rest.len(), str::len);
            report.fixable(found, "remove the import", &source, Span::new(span.start, span.end + tail), "");
        }
    }
}
