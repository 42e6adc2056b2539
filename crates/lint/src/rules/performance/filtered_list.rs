//! `performance/filtered-list`: a list that is filtered only to see whether anything is left, or what is first.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::Diagnostic;
use asterisk_script::chain::{Segment, flatten};
use asterisk_script::tree::{Expr, Node};

pub(super) const RULE: LintRule = LintRule {
    id: "performance/filtered-list",
    level: LintLevel::Note,
    summary: "a list that is filtered where `any`, `none` or `find` would stop at the first item",
    manual: include_str!("../../manual/performance/filtered-list.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in &cx.units {
        unit.tree().each(|node| {
            let Node::Expr(expr) = node else { return };
            let Some(chain) = flatten(expr) else { return };
            for pair in chain.segments.windows(2) {
                let [Segment::Call { call: filter, at }, next] = pair else { continue };
                if filter.name != "filter" || filter.args.len() != 1 {
                    continue;
                }
                let instead = match next {
                    Segment::Call { call, .. } if call.name == "is_empty" => "`none(..)`, or `any(..)` for the opposite,",
                    Segment::Call { call, .. } if call.name == "first" && call.args.is_empty() => "`find(..)`",
                    Segment::Index { key: Expr::Int(0, _) } => "`find(..)`, which is `()` if there is none,",
                    _ => continue,
                };
                if let Some((source, span)) = unit.token(*at) {
                    let found = Diagnostic::warning(RULE.id, "the whole list is filtered for its first item");
                    let help = format!("{instead} stops at the first item that matches");
                    report.push(found.label(&source, span, "makes a list").help(help));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_lists_of_which_the_first_item_is_wanted_are_reported() {
        let list = "state.history.filter(|visit| visit.node == \"recall\")";
        for (end, want) in [
            (".is_empty()", &["filter"][..]),
            (".first() == ()", &["filter"]),
            ("[0] == ()", &["filter"]),
            (".len() > 1", &[]),
            ("[1] == ()", &[]),
        ] {
            assert_eq!(found(RULE.id, &Example::rule(&format!("{list}{end}"))), want, "{end}");
        }
    }
}
