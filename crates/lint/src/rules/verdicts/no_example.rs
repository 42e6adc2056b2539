//! `verdicts/no-example`: verdict rules that no test calls.

use super::linked;
use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::gather::is_test;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::Diagnostic;
use asterisk_script::Unit;
use std::collections::BTreeSet;

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/no-example",
    level: LintLevel::Note,
    summary: "a verdict rule that no test calls",
    manual: include_str!("../../manual/verdicts/no-example.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    if !cx.whole {
        return;
    }
    let tests: Vec<&Unit> = cx.units.iter().filter(|unit| is_test(unit.name())).map(|unit| &**unit).collect();
    let called: BTreeSet<&str> = tests.iter().flat_map(|unit| words(unit)).collect();
    // A test may compute the whole verdict and name the contributing rules.
    let judging: Vec<&Unit> = tests.into_iter().filter(|unit| words(unit).any(|word| word == "judge")).collect();
    let cited = |text: &str| judging.iter().any(|unit| !text.is_empty() && unit.text().script().contains(&format!("\"{text}\"")));
    for pipe in &cx.pipelines {
        for one in linked(pipe) {
            if called.contains(one.function.name()) || [one.rule.id.as_str(), one.rule.name.as_str()].into_iter().any(cited) {
                continue;
            }
            let (source, span) = name_of(one.unit, one.function);
            let message = format!("no test covers the rule `{}`", &*one.rule.id);
            let found = Diagnostic::warning(RULE.id, message).label(&source, span, "called by no test");
            let found = found.label(&pipe.pipeline.source, one.rule.id.span, "declared here");
            report.push(found.help("call it in a `*_test.rhai` with evidence that it matches, and with some that it does not"));
        }
    }
}

/// The words in the code of a script.
fn words(unit: &Unit) -> impl Iterator<Item = &str> {
    unit.text().words().filter(|(word, _)| !word.starts_with("//")).map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::{example, expanded};
    use crate::testing::{Example, found};

    #[test]
    fn a_test_may_judge_and_name_the_rule() {
        let with = |test: &str| {
            let mut files = example(&expanded(RULE.manual), "Bad");
            let last = files.last_mut().expect("the test");
            last.text += test;
            found(RULE.id, &Example::of(&files))
        };
        let judged = |name: &str| format!("fn test_judged() {{ assert(judge(#{{}}).spoke.some(|rule| rule.id == {name})); }}\n");
        assert_eq!(with(""), ["test_threw"]);
        assert_eq!(with(&judged("\"V9\"")), ["test_threw"]);
        assert!(with(&judged("\"V2\"")).is_empty() && with(&judged("\"test-threw\"")).is_empty());
        assert_eq!(with("fn test_named() { assert(\"V2\" != \"\"); }\n"), ["test_threw"], "named without a verdict");
    }
}
