//! `purity/test-call`: calls of functions reserved for tests.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::calls;
use asterisk_diag::Diagnostic;
use asterisk_script::tree::Function;
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "purity/test-call",
    level: LintLevel::Error,
    summary: "an assertion outside of tests",
    manual: include_str!("../../manual/purity/test-call.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in cx.units.iter().filter(|unit| !is_test(unit.name())) {
        let own: BTreeSet<&str> = unit.tree().named().map(Function::name).collect();
        for function in &unit.tree().functions {
            calls(&function.body, |call, at| {
                let only_tests = call.name == "assert" || call.name.starts_with("assert_");
                if only_tests
                    && !own.contains(call.name.as_str())
                    && let Some((source, span)) = unit.token(at)
                {
                    let found = Diagnostic::error(RULE.id, format!("only tests may call `{}`", call.name));
                    let found = found.label(&source, span, "called here");
                    report.push(found.help("decide with `if`, or move this into a `*_test.rhai`"));
                }
            });
        }
    }
}
