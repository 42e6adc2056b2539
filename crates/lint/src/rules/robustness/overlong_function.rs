//! `robustness/overlong-function`: functions that are too long.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use crate::syntax::{name_of, text_of};
use asterisk_diag::Diagnostic;

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/overlong-function",
    level: LintLevel::Note,
    summary: "a function with too many lines",
    manual: include_str!("../../manual/robustness/overlong-function.md"),
    options: &[RuleOption {
        name: "max_lines",
        default: OptionDefault::Int(100),
        doc: "The maximum lines of a function, without blank lines and comments.",
    }],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let most = RULE.number(cx.config, "max_lines");
    for unit in &cx.units {
        for function in unit.tree().named() {
            let text = text_of(unit, function);
            let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
            let lines = text.lines().filter(is_code).count();
            if lines > most {
                let (source, span) = name_of(unit, function);
                let found = Diagnostic::warning(RULE.id, format!("`{}` has {lines} lines, more than {most}", function.name()));
                report.push(found.label(&source, span, "too long").help("move parts of it to functions of their own"));
            }
        }
    }
}
