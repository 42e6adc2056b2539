//! `teams/idle-mask`: masks that do nothing.

use super::masks;
use crate::diag::Diagnostic;
use crate::lint::context::LintContext;
use crate::lint::finding::FindingCollector;
use crate::lint::rule::{LintLevel, LintRule};
use crate::lint::syntax::name_of;
use crate::script::tree::{Expr, Function, Stmt};
use serde_json::Value;

/// The rule.
pub(super) const RULE: LintRule = LintRule {
    id: "teams/idle-mask",
    level: LintLevel::Warning,
    summary: "a mask that changes nothing and brings nothing",
    manual: include_str!("../../manual/teams/idle-mask.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for unit in masks(cx) {
        let brings = cx.library.file(unit.name()).and_then(|file| file.constant("NEEDS"));
        if brings.is_some_and(|needs| needs != Value::Array(Vec::new())) {
            continue;
        }
        let found = [("pre", 1), ("post", 2)].map(|(name, arity)| unit.tree().function(name, arity));
        let Some(first) = found.into_iter().flatten().next() else { continue };
        if found.into_iter().flatten().all(hands_on) {
            let (source, span) = name_of(unit, first);
            let finding = Diagnostic::warning(RULE.id, format!("the mask `{}` does nothing", unit.name()));
            let finding = finding.label(&source, span, "hands on what it was given");
            report.push(finding.help("let it tell the step something, bring it a read by `NEEDS`, or take it away"));
        }
    }
}

/// Whether a function does nothing but return its last parameter, which is what it is there to change.
fn hands_on(function: &Function) -> bool {
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
    use crate::lint::manual::ExampleFile;
    use crate::lint::testing::{Example, found};

    #[test]
    fn whatever_does_something_is_no_idle_mask() {
        let with = |text: &str| {
            let text = format!("const NODES = [\"look\"];\n{text}");
            found(RULE.id, &Example::of(&[ExampleFile { path: "scripts/masks/m.rhai".into(), text }]))
        };
        for body in [
            "/// Tells.\nfn pre(ctx) { let told = ctx.to_map(); told.meta = #{}; told }",
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
