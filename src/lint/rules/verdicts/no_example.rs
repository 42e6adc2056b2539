//! `verdicts/no-example`: rules of a verdict that no test calls.

use super::linked;
use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::gather::is_test;
use crate::lint::rule::{LintLevel, LintRule};
use crate::lint::syntax::name_of;
use crate::script::Unit;
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/no-example",
    level: LintLevel::Note,
    summary: "a rule of a verdict that no test calls, so that nothing shows it speaking",
    manual: include_str!("../../manual/verdicts/no-example.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    if !cx.whole {
        return;
    }
    let called: BTreeSet<&str> = cx.units.iter().filter(|unit| is_test(unit.name())).flat_map(|unit| words(unit)).collect();
    for pipe in &cx.pipelines {
        for one in linked(pipe) {
            if called.contains(one.function.name()) {
                continue;
            }
            let (source, span) = name_of(one.unit, one.function);
            let message = format!("no test shows the rule `{}` speaking", &*one.rule.id);
            let found = Diagnostic::warning(RULE.id, message).label(&source, span, "called by no test");
            let found = found.label(&pipe.pipeline.source, one.rule.id.span, "weighed here");
            report
                .push(found.help("call it in a `*_test.rhai` with evidence that it speaks for, and with some that it does not"));
        }
    }
}

/// The words of the code of a script.
fn words(unit: &Unit) -> impl Iterator<Item = &str> {
    unit.text().words().filter(|(word, _)| !word.starts_with("//")).map(|(word, _)| word)
}
