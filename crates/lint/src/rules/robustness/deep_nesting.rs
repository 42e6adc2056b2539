//! `robustness/deep-nesting`: deeply nested blocks.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule, OptionDefault, RuleOption};
use asterisk_diag::Diagnostic;
use asterisk_script::tree::{Position, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/deep-nesting",
    level: LintLevel::Note,
    summary: "deeply nested blocks",
    manual: include_str!("../../manual/robustness/deep-nesting.md"),
    options: &[RuleOption { name: "max_depth", default: OptionDefault::Int(5), doc: "The maximum nesting depth." }],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let most = RULE.number(cx.config, "max_depth");
    for unit in &cx.units {
        for function in &unit.tree().functions {
            if let Some(at) = deeper(&function.body, most)
                && let Some((source, span)) = unit.token(at)
            {
                let found = Diagnostic::warning(RULE.id, format!("this is nested more than {most} deep"));
                report.push(
                    found
                        .label(&source, span, "too deep from here on")
                        .help("leave early with `return` or `continue`, or move the inside to a function"),
                );
            }
        }
    }
}

/// The first statement nested deeper than `levels`; an `else if` is on the level of its `if`.
fn deeper(statements: &[Stmt], levels: usize) -> Option<Position> {
    statements.iter().find_map(|statement| {
        let inside: Vec<&[Stmt]> = match statement {
            Stmt::If { then, otherwise, at, .. } => {
                let chain = matches!(otherwise.as_slice(), [Stmt::If { .. }]);
                if let (true, Some(found)) = (chain, deeper(otherwise, levels)) {
                    return Some(found);
                }
                if levels == 0 {
                    return Some(*at);
                }
                if chain { vec![then] } else { vec![then, otherwise] }
            }
            Stmt::For { body, at, .. } | Stmt::While { body, at, .. } | Stmt::Do { body, at, .. } => {
                if levels == 0 {
                    return Some(*at);
                }
                vec![body]
            }
            Stmt::Try { body, handler, .. } => vec![body, handler],
            Stmt::Block(statements, _) => return deeper(statements, levels),
            _ => Vec::new(),
        };
        inside.into_iter().find_map(|statements| deeper(statements, levels.saturating_sub(1)))
    })
}
