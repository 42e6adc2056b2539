//! `teams/ignored-answer`: masks that replace the artifact without reading it.

use super::masks;
use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::Diagnostic;
use asterisk_script::tree::{self, Expr, Node};

pub(super) const RULE: LintRule = LintRule {
    id: "teams/ignored-answer",
    level: LintLevel::Warning,
    summary: "a mask whose `post` does not read the answer",
    manual: include_str!("../../manual/teams/ignored-answer.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in masks(cx) {
        let Some(post) = unit.tree().function("post", 2) else { continue };
        let mut looked = post.body.is_empty();
        tree::each(&post.body, &mut |node| {
            looked |= matches!(node, Node::Expr(Expr::Variable(variable, _)) if variable.name == post.params[1]);
        });
        if !looked {
            let (source, span) = name_of(unit, post);
            let found = Diagnostic::warning(RULE.id, format!("`post` of the mask `{}` does not read the answer", unit.name()));
            let found = found.label(&source, span, format!("`{}` is not used", post.params[1]));
            report.push(found.help("change a copy of it: `let made = artifact.to_map(); ... made`; or return `()` to keep it"));
        }
    }
}
