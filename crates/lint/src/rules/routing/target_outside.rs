//! `routing/target-outside`: targets chosen by a rule that the edge does not list.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_pipeline::EdgeIx;
pub(super) use asterisk_script::chain::{Segment, flatten};
use asterisk_script::tree::{self, Expr, Node, Position, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "routing/target-outside",
    level: LintLevel::Error,
    summary: "a rule that chooses a target its edge does not list",
    manual: include_str!("../../manual/routing/target-outside.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for (at, edge) in pipe.pipeline.edges.iter().enumerate() {
            let Some(rule) = pipe.rule(EdgeIx(at)).filter(|rule| !rule.unit.is_condition() && !edge.advisory) else { continue };
            let function = rule.unit.tree().function(&rule.name, 3);
            for (text, place) in function.map(|function| chosen(&function.body)).unwrap_or_default() {
                if text.is_empty() || pipe.pipeline.resolve_choice(edge, &text).is_some() {
                    continue;
                }
                let Some((source, span)) = rule.unit.token(place) else { continue };
                let message = format!("the edge `{}` does not lead to `{text}`", *edge.id);
                let names = edge.choices().map(|target| pipe.pipeline.target_name(target));
                let known = pipe.pipeline.resolve_target(&text).is_some();
                let help =
                    if known { Some(format!("add it to the edge's `targets: [{text}]`")) } else { did_you_mean(&text, names) };
                let found = Diagnostic::error(RULE.id, message).label(&source, span, "chosen here");
                report.push(found.label(&pipe.pipeline.source, edge.id.span, "by this edge").maybe_help(help));
            }
        }
    }
}

/// The literal `to` of maps in a function, and literals assigned to a property of that name, outside the maps of `context`.
fn chosen(body: &[Stmt]) -> Vec<(String, Position)> {
    let mut found = Vec::new();
    let mut add = |expr: &Expr| {
        if let Expr::Text(text, at) = expr {
            found.push((text.to_string(), *at));
        }
    };
    tree::each_path(body, &mut |path| match path {
        [outside @ .., Node::Expr(Expr::Map(fields, _))] if !inside_map(outside) => {
            fields.iter().filter(|(name, _)| name.text == "to").for_each(|(_, value)| add(value));
        }
        [.., Node::Stmt(Stmt::Assign { target, value, compound: false, .. })] => {
            let chain = flatten(target);
            if let Some([Segment::Field { name: "to", .. }]) = chain.as_ref().map(|chain| chain.segments.as_slice()) {
                add(value);
            }
        }
        _ => {}
    });
    found
}

fn inside_map(path: &[Node<'_>]) -> bool {
    path.iter().any(|node| matches!(node, Node::Expr(Expr::Map(..))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_targets_chosen_by_the_rule_count() {
        for body in [
            "#{ context: #{ to: \"nowhere\" } }",
            "let a = #{}; a.to = artifact.label; a",
            "#{ to: \"\" }",
            "#{ because: \"judge\" }",
        ] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        assert_eq!(found(RULE.id, &Example::rule("let a = #{}; a.to = \"look\"; a")), ["\"look\""]);
    }
}
