//! `robustness/bool-comparison`: comparisons of a bool with `true` or `false`.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::model::kind_at;
use crate::rule::{LintLevel, LintRule};
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostic;
use asterisk_project::ExaminedFunction;
pub(super) use asterisk_script::chain::{Segment, flatten};
use asterisk_script::tree::{self, Expr, Function, Node};

pub(super) const RULE: LintRule = LintRule {
    id: "robustness/bool-comparison",
    level: LintLevel::Note,
    summary: "a bool compared with `true` or `false`",
    manual: include_str!("../../manual/robustness/bool-comparison.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for one in cx.examined() {
        let Some(function) = one.unit.tree().function(&one.name, one.inputs.len()) else { continue };
        tree::each(&function.body, &mut |node| {
            let Node::Expr(expr @ Expr::Call(call, _)) = node else { return };
            let ("==" | "!=", true, [left, right]) = (call.name.as_str(), call.operator, call.args.as_slice()) else { return };
            let ((side, Expr::Bool(truth, _)) | (Expr::Bool(truth, _), side)) = (left, right) else { return };
            if is_bool(one, function, side) {
                report_comparison(one, expr, side, *truth == (call.name == "=="), report);
            }
        });
    }
}

fn report_comparison(one: &ExaminedFunction<'_>, whole: &Expr, side: &Expr, wanted: bool, report: &mut FindingCollector) {
    let (Some((source, span)), Some((_, inner))) = (one.unit.extent(whole), one.unit.extent(side)) else { return };
    let written = source.slice(inner);
    let plain = if wanted { written.to_owned() } else { format!("!{written}") };
    let found = Diagnostic::warning(RULE.id, "a bool is a condition by itself").label(&source, span, "compared with a bool");
    report.fixable(found.help(format!("write `{plain}`")), "remove the comparison", &source, span, plain);
}

/// Whether an expression is a field declared as a bool.
fn is_bool(one: &ExaminedFunction<'_>, function: &Function, side: &Expr) -> bool {
    let Some(chain) = flatten(side) else { return false };
    let Expr::Variable(root, _) = chain.root else { return false };
    let Some(at) = function.params.iter().position(|param| *param == root.name) else { return false };
    let mut path = one.inputs[at].0.to_owned();
    for segment in &chain.segments {
        let Segment::Field { name, .. } = segment else { return false };
        path = format!("{path}.{name}");
    }
    kind_at(&one.inputs, &path).is_some_and(|(kind, _)| *kind == Kind::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Example, found};

    #[test]
    fn only_certain_bools_are_reported() {
        for body in ["get_or(artifact, \"match\", false) == true", "artifact.match", "state.context.x == true"] {
            assert_eq!(found(RULE.id, &Example::rule(body)), [""; 0], "{body}");
        }
        let fix = |body: &str| {
            let all = crate::testing::all(&Example::rule(body));
            all.into_iter().find_map(|one| one.fix).map(|fix| fix.edits[0].text.clone())
        };
        assert_eq!(fix("artifact.match == false").as_deref(), Some("!artifact.match"));
        assert_eq!(fix("true != artifact.match && artifact.confidence > vars.enough").as_deref(), Some("!artifact.match"));
    }
}
