//! `robustness/empty-catch`: failures that are caught and forgotten.

use crate::diag::Diagnostic;
use crate::lint::context::Cx;
use crate::lint::finding::Report;
use crate::lint::rule::{Level, Rule};
use crate::lint::syntax::walk;
use rhai::{ASTNode, Stmt};

/// The rule.
pub(super) const RULE: Rule = Rule {
    id: "robustness/empty-catch",
    level: Level::Warning,
    summary: "a failure that is caught and forgotten",
    manual: MANUAL,
    options: &[],
    check: Some(check),
};

const MANUAL: &str = r"A `catch` with nothing in it hides every mistake in its `try`, those that nobody thought of among them.

Found:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    let sure = false;
    try { sure = artifact.confidence / vars.enough >= 1.0; } catch { }
    sure
}
```

Mended:

```rhai
/// Seen before.
fn seen(artifact, state, vars) {
    vars.enough != 0.0 && artifact.confidence / vars.enough >= 1.0
}
```
";

fn check(cx: &Cx<'_>, report: &mut Report) {
    for unit in &cx.units {
        walk(unit, |node| {
            if let ASTNode::Stmt(Stmt::TryCatch(parts, at)) = node
                && parts.branch.statements().iter().all(Stmt::is_noop)
                && let Some((source, span)) = unit.token(*at)
            {
                let found = Diagnostic::warning(RULE.id, "whatever fails here is forgotten");
                report.push(
                    found
                        .label(&source, span, "its `catch` is empty")
                        .help("ask before whether it can be done, or say in the `catch` what is to be then"),
                );
            }
        });
    }
}
