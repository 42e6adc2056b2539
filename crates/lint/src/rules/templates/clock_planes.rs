//! `templates/clock-planes`: timestamps without a note on their clocks.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::tags::{paths, tags};
use asterisk_diag::{Diagnostic, Span};
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "templates/clock-planes",
    level: LintLevel::Warning,
    summary: "times in a prompt without a note on their clocks",
    manual: include_str!("../../manual/templates/clock-planes.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for path in cx.templates.paths() {
        let Some(source) = cx.templates.get(path).map(|template| template.source().clone()) else { continue };
        let shown = tags(&source).into_iter().find_map(|tag| {
            let at = paths(&tag.inner).into_iter().find(|(named, _)| tag.resolve(named).starts_with("timestamps."))?;
            Some(Span::new(tag.span.start + at.1, tag.span.start + at.1 + at.0.len()))
        });
        let Some(span) = shown else { continue };
        let around = cx.templates.paths().filter(|other| reaches(cx, other, path));
        let pages: Vec<String> = around.map(str::to_owned).collect();
        // Every page that shows it needs the note.
        let noted = |page: &String| family(cx, page).iter().any(|part| mentions_clocks(cx, part));
        if pages.iter().filter(|page| !pages.iter().any(|other| other != *page && reaches(cx, other, page))).all(noted) {
            continue;
        }
        let found = Diagnostic::warning(RULE.id, "no note says which clock these times come from");
        let found = found.label(&source, span, "a time");
        report.push(found.help("add a note that the clocks may disagree, as `{% include \"parts/clocks.md\" %}` does"));
    }
}

/// Whether a template is another, or includes it directly or indirectly.
fn reaches(cx: &LintContext<'_>, from: &str, to: &str) -> bool {
    family(cx, from).iter().any(|part| part == to)
}

/// A template and all its includes.
fn family(cx: &LintContext<'_>, path: &str) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::from([path.to_owned()]), vec![path.to_owned()]);
    while let Some(path) = open.pop() {
        for part in cx.templates.includes(&path) {
            if seen.insert(part.clone()) {
                open.push(part);
            }
        }
    }
    seen
}

/// Whether a template mentions clocks.
fn mentions_clocks(cx: &LintContext<'_>, path: &str) -> bool {
    cx.templates.get(path).is_some_and(|template| template.source().text().to_lowercase().contains("clock"))
}
