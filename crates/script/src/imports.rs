//! The imports of a script.

use super::resolver::script_of;
use super::rhai_internals::tree::{Expr, Node, Position, Stmt};
use super::unit::Unit;
use asterisk_diag::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};

/// An `import` at the head of a file.
pub(crate) struct Import {
    /// The path of the script.
    pub(crate) script: String,
    /// The position of the path.
    pub(crate) position: Position,
}

/// Returns the imports at the head of a file. Any other import, and any path that is not a literal, is refused: the dependencies
/// of a script are known at link time.
pub(crate) fn imports_of(unit: &Unit, problems: &mut Diagnostics) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut names: BTreeMap<String, Position> = BTreeMap::new();
    let mut at_head: BTreeSet<Position> = BTreeSet::new();
    let place = |position: Position| unit.text().token(position).unwrap_or_default();
    let mut report = |code: &'static str, message: String, span: Span, help: &str| {
        let (source, span) = unit.locate(span);
        problems.push(Diagnostic::error(code, message).label(&source, span, "").help(help));
    };
    for statement in &unit.tree().statements {
        let Stmt::Import { path, alias, at } = statement else { continue };
        at_head.insert(*at);
        if !alias.text.is_empty()
            && let Some(first) = names.insert(alias.text.to_string(), alias.at)
        {
            let line = first.line().unwrap_or(0);
            let message = format!("duplicate import `{}` (the other is in line {line})", alias.text);
            report("script/duplicate-import", message, place(alias.at), "give one of them another name");
        }
        let Expr::Text(written, position) = path else {
            let span = unit.tokens().extent(unit.script(), path).unwrap_or_else(|| place(*at));
            report(
                "script/import",
                "the path of an import must be written out".into(),
                span,
                "write it as a string: `import \"lib/base\" as base;`",
            );
            continue;
        };
        match script_of(written) {
            Ok(script) => imports.push(Import { script, position: *position }),
            Err(why) => {
                let help = "name a script below the script root, such as `import \"lib/base\" as base;`";
                report("script/import", format!("`{written}` {why}"), place(*position), help);
            }
        }
    }
    unit.tree().each(|node| {
        let through = match node {
            Node::Expr(Expr::Call(call, at)) => Some((&call.namespace, *at)),
            Node::Expr(Expr::Variable(variable, at)) => Some((&variable.namespace, *at)),
            _ => None,
        };
        if let Some((namespace, at)) = through.filter(|(namespace, _)| namespace.len() > 1) {
            let message = format!("`{}` is imported by another script", namespace.join("::"));
            report("script/import", message, place(at), "import it here too, under its own name");
        }
        if let Node::Stmt(Stmt::Import { at, .. }) = node
            && !at_head.contains(at)
        {
            let message = "an import must be at the head of the file".to_owned();
            report("script/import", message, place(*at), "move it out of the function or block");
        }
    });
    imports
}
