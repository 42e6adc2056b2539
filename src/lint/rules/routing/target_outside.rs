//! `routing/target-outside`: targets that an edge does not list.

use crate::diag::{Diagnostic, did_you_mean};
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::pipeline::EdgeIx;
use crate::script::check::chain::{Segment, flatten};
use crate::script::rewrite::statements_of;
use rhai::{ASTNode, Expr, Position, Stmt};

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "routing/target-outside",
    level: LintLevel::Error,
    summary: "a rule that sends the walk where its edge does not lead",
    manual: include_str!("../../manual/routing/target-outside.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in &cx.pipelines {
        for (at, edge) in pipe.pipeline.edges.iter().enumerate() {
            let Some(rule) = pipe.rule(EdgeIx(at)).filter(|rule| !rule.unit.is_condition() && !edge.advisory) else { continue };
            let definition =
                rule.unit.ast().iter_fn_def().find(|function| *function.name == *rule.name && function.params.len() == 3);
            for (text, place) in definition.map(|definition| chosen(&statements_of(definition))).unwrap_or_default() {
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
                report.push(found.label(&pipe.pipeline.source, edge.id.span, "of this edge").maybe_help(help));
            }
        }
    }
}

/// The texts that a function writes out as `to` of a map, or assigns to a field of that name, outside the maps of `context`.
fn chosen(body: &[Stmt]) -> Vec<(String, Position)> {
    let mut found = Vec::new();
    let mut add = |expr: &Expr| {
        if let Expr::StringConstant(text, at) = expr {
            found.push((text.to_string(), *at));
        }
    };
    for statement in body {
        statement.walk(&mut Vec::new(), &mut |path| {
            match path {
                [.., ASTNode::Expr(Expr::Map(parts, _))] if !inside_map(&path[..path.len() - 1]) => {
                    parts.0.iter().filter(|(name, _)| name.name == "to").for_each(|(_, value)| add(value));
                }
                [.., ASTNode::Stmt(Stmt::Assignment(parts))] if !parts.0.is_op_assignment() => {
                    let chain = flatten(&parts.1.lhs);
                    if let Some([Segment::Field { name: "to", .. }]) = chain.as_ref().map(|chain| chain.segments.as_slice()) {
                        add(&parts.1.rhs);
                    }
                }
                _ => {}
            }
            true
        });
    }
    found
}

fn inside_map(path: &[ASTNode<'_>]) -> bool {
    path.iter().any(|node| matches!(node, ASTNode::Expr(Expr::Map(..))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::testing::{Example, found};

    #[test]
    fn only_choices_of_the_rule_count() {
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
