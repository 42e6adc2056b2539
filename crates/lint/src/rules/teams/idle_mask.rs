//! `teams/idle-mask`: masks without effect.

use super::masks;
use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use crate::syntax::name_of;
use asterisk_diag::Diagnostic;
use asterisk_script::tree::{Expr, Function, Stmt};
use serde_json::Value;

pub(super) const RULE: LintRule = LintRule {
    id: "teams/idle-mask",
    level: LintLevel::Warning,
    summary: "a mask that changes nothing and adds no reads",
    manual: include_str!("../../manual/teams/idle-mask.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in masks(cx) {
        let brings = cx.library.constant(unit.name(), "NEEDS");
        if brings.is_some_and(|needs| needs != Value::Array(Vec::new())) {
            continue;
        }
        let found = [("pre", 1), ("post", 2)].map(|(name, arity)| unit.tree().function(name, arity));
        let Some(first) = found.into_iter().flatten().next() else { continue };
        if found.into_iter().flatten().all(is_identity) {
            let (source, span) = name_of(unit, first);
            let finding = Diagnostic::warning(RULE.id, format!("the mask `{}` does nothing", unit.name()));
            let finding = finding.label(&source, span, "returns its input unchanged");
            report.push(finding.help("let it add something to the step, declare reads in `NEEDS`, or remove it"));
        }
    }
}

/// Whether a function only returns its last parameter unchanged.
fn is_identity(function: &Function) -> bool {
    let Some(last) = function.params.last() else { return false };
    let is_it = |expr: &Expr| matches!(expr, Expr::Variable(variable, _) if variable.name == *last);
    match function.body.as_slice() {
        [] => true,
        [Stmt::Expr(expr) | Stmt::Return { value: Some(expr), .. }] => is_it(expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ExampleFile;
    use crate::testing::{Example, found};

    #[test]
    fn masks_with_an_effect_are_accepted() {
        let with = |text: &str| {
            let text = format!("const NODES = [\"look\"];\n{text}");
            found(RULE.id, &Example::of(&[ExampleFile { path: "scripts/masks/m.rhai".into(), text }]))
        };
        for body in [
            "/// Changes.\nfn pre(ctx) { let made = ctx.to_map(); made.meta = #{}; made }",
            "/// Hands on.\nfn pre(ctx) { ctx }\n/// Changes.\nfn post(ctx, artifact) { let made = artifact.to_map(); made.match = true; made }",
        ] {
            assert_eq!(with(body), [""; 0], "{body}");
        }
        for body in [
            "/// Hands on.\nfn post(ctx, artifact) { return artifact; }",
            "const NEEDS = [];\n/// Hands on.\nfn pre(ctx) { ctx }\n/// Hands on.\nfn post(ctx, artifact) { artifact }",
        ] {
            assert_eq!(with(body).len(), 1, "{body}");
        }
    }
}
