//! `teams/unknown-walker`: schedulers that name a walker who is not in the team.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Source, Span, did_you_mean};
use asterisk_project::FunctionUse;
use asterisk_script::Unit;
use asterisk_script::tree::{self, Expr, Node, Stmt};

pub(super) const RULE: LintRule = LintRule {
    id: "teams/unknown-walker",
    level: LintLevel::Warning,
    summary: "a scheduler that names a walker outside the team",
    manual: include_str!("../../manual/teams/unknown-walker.md"),
    options: &[],
    check: Some(check),
};

/// The inputs that hold the name of a walker.
const NAMES: [&str; 2] = ["ctx.walkers[].name", "ctx.prior.name"];

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for pipe in cx.pipelines.iter().chain(&cx.teams) {
        let Some(team) = &pipe.pipeline.team else { continue };
        let names: Vec<String> = team.walkers.iter().filter_map(|walker| Some(walker.name()?.value)).collect();
        for one in pipe.examined.iter().filter(|one| one.place == FunctionUse::Scheduler) {
            let mut names_used = returned(one.unit, &one.name);
            for compared in &one.analysis.facts.compared {
                for (side, other) in [(&compared.left, &compared.right), (&compared.right, &compared.left)] {
                    if side.path.as_deref().is_some_and(|path| NAMES.contains(&path))
                        && let Some(text) = &other.text
                    {
                        names_used.push((text.clone(), compared.source.clone(), other.span));
                    }
                }
            }
            for (name, source, span) in names_used.iter().filter(|(name, ..)| !names.contains(name)) {
                let found = Diagnostic::warning(RULE.id, format!("no walker of the team is called `{name}`"));
                let found = found.label(source, *span, "named here").label(&team.source, team.span, "the team");
                let known = format!("the team has {}", names.join(", "));
                report.push(found.help(did_you_mean(name, names.iter().map(String::as_str)).unwrap_or(known)));
            }
        }
    }
}

/// The string literals that a function returns.
fn returned(unit: &Unit, name: &str) -> Vec<(String, Source, Span)> {
    let Some(function) = unit.tree().named().find(|function| function.name() == name) else { return Vec::new() };
    let mut found = Vec::new();
    let mut text = |expr: &Expr| {
        if let Expr::Text(text, at) = expr
            && let Some((source, span)) = unit.token(*at)
        {
            found.push((text.to_string(), source, span));
        }
    };
    tree::each(&function.body, &mut |node| {
        if let Node::Stmt(Stmt::Return { value: Some(expr), .. }) = node {
            text(expr);
        }
    });
    tails(&function.body, &mut text);
    found
}

/// The expressions that statements evaluate to.
fn tails(statements: &[Stmt], visit: &mut impl FnMut(&Expr)) {
    match statements.last() {
        Some(Stmt::Expr(Expr::Block(statements, _)) | Stmt::Block(statements, _)) => tails(statements, visit),
        Some(Stmt::Expr(expr)) => visit(expr),
        Some(Stmt::If { then, otherwise, .. }) => {
            tails(then, visit);
            tails(otherwise, visit);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ExampleFile;
    use crate::testing::{Example, found};

    #[test]
    fn names_are_found_on_every_return_path() {
        let with = |body: &str| {
            let text = format!("/// Chooses.\nfn select(ctx) {{ {body} }}\n");
            found(RULE.id, &Example::of(&[ExampleFile { path: "scripts/schedulers/example.rhai".into(), text }]))
        };
        for body in [
            "if ctx.walkers.len() > 1 { \"Herald\" } else { \"Scout\" }",
            "let all = ctx.walkers; let herald = all.find(|one| one.name == \"Herald\"); if herald == () { \"Scout\" } else { herald.name }",
        ] {
            assert_eq!(with(body).first().map(String::as_str), Some("\"Herald\""), "{body}");
        }
        assert_eq!(with("if ctx.node.name == \"Herald\" { return \"Scout\"; } ctx.walkers[0].name"), [""; 0]);
    }
}
