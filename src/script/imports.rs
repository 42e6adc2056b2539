//! What scripts import: found, checked and put in order when a library is linked.

use super::fault;
use super::parse::Parsed;
use super::resolver::script_of;
use super::unit::Unit;
use crate::diag::{Diagnostic, Diagnostics, Span, did_you_mean};
use rhai::{ASTNode, Expr, Position, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An `import` at the head of a file.
pub(crate) struct Import {
    /// The path of the script.
    pub(crate) script: String,
    /// Where the path is written.
    position: Position,
}

impl Import {
    /// The path as it is written.
    fn span(&self, file: &Parsed) -> Span {
        file.unit.text().token(self.position).unwrap_or_default()
    }
}

/// The imports at the head of a file. Any other import, and any path that is not written out, is refused: what a script depends
/// on is known when it is linked.
pub(crate) fn imports_of(unit: &Unit, problems: &mut Diagnostics) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut names: BTreeMap<String, Position> = BTreeMap::new();
    let mut at_head: BTreeSet<Position> = BTreeSet::new();
    let place = |position: Position| unit.text().token(position).unwrap_or_default();
    let mut report = |code: &'static str, message: String, span: Span, help: &str| {
        let (source, span) = unit.locate(span);
        problems.push(Diagnostic::error(code, message).label(&source, span, "").help(help));
    };
    for statement in unit.ast().statements() {
        let Stmt::Import(parts, position) = statement else { continue };
        at_head.insert(*position);
        let (path, alias) = &**parts;
        if !alias.name.is_empty()
            && let Some(first) = names.insert(alias.name.to_string(), alias.pos)
        {
            let line = first.line().unwrap_or(0);
            let message = format!("two imports are called `{}` (the other is in line {line})", alias.name);
            report("script/duplicate-import", message, place(alias.pos), "give one of them another name");
        }
        let Expr::StringConstant(written, position) = path else {
            let span = unit.tokens().extent(unit.script(), path).unwrap_or_else(|| place(*position));
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
    unit.ast().walk(&mut |path| {
        let through = match path.last() {
            Some(ASTNode::Stmt(Stmt::FnCall(call, at)) | ASTNode::Expr(Expr::FnCall(call, at))) => Some((&call.namespace, *at)),
            Some(ASTNode::Expr(Expr::Variable(variable, _, at))) => Some((&variable.2, *at)),
            _ => None,
        };
        if let Some((namespace, at)) = through.filter(|(namespace, _)| namespace.path.len() > 1) {
            let names: Vec<&str> = namespace.path.iter().map(|name| name.name.as_str()).collect();
            let message = format!("`{}` is imported by another script", names.join("::"));
            report("script/import", message, place(at), "import it here too, under a name of its own");
        }
        if let Some(ASTNode::Stmt(Stmt::Import(_, position))) = path.last()
            && !at_head.contains(position)
        {
            let message = "an import must stand at the head of the file".to_owned();
            report("script/import", message, place(*position), "move it out of the function or block");
        }
        true
    });
    imports
}

/// Imports of scripts that are not there, and imports that come back to where they started.
pub(crate) fn check_imports(parsed: &BTreeMap<String, Arc<Parsed>>, problems: &mut Diagnostics) {
    for file in parsed.values() {
        for import in file.imports.iter().filter(|import| !parsed.contains_key(&import.script)) {
            // A script that is there but does not parse is reported already.
            if problems.iter().any(|problem| problem.primary().is_some_and(|label| label.source.name() == import.script)) {
                continue;
            }
            let known = did_you_mean(&import.script, parsed.keys().map(String::as_str));
            let message = format!("there is no script `{}`", import.script);
            problems.push(
                Diagnostic::error("script/import", message)
                    .label(&file.source, import.span(file), "imported here")
                    .maybe_help(known),
            );
        }
    }
    let mut depths = BTreeMap::new();
    for path in parsed.keys() {
        find_cycle(path, parsed, &mut depths, &mut Vec::new(), problems);
    }
}

/// Scripts on the longest way of imports, the importing one included.
const DEEPEST: usize = 64;

/// Reports the circles that a script's imports lead into, and imports that reach too deep. `depths` knows how many scripts stand
/// on the longest way from those that were visited; one that reaches too deep counts as 1, so that it is reported once.
fn find_cycle<'a>(
    path: &'a str,
    parsed: &'a BTreeMap<String, Arc<Parsed>>,
    depths: &mut BTreeMap<&'a str, usize>,
    chain: &mut Vec<(&'a str, &'a Import)>,
    problems: &mut Diagnostics,
) -> usize {
    if let Some(depth) = depths.get(path) {
        return *depth;
    }
    let Some(file) = parsed.get(path) else { return 0 };
    let mut depth = 1;
    for import in &file.imports {
        chain.push((path, import));
        if let Some(start) = chain.iter().position(|(on_the_way, _)| *on_the_way == import.script) {
            let round: Vec<&str> = chain[start..].iter().map(|(path, _)| *path).chain([import.script.as_str()]).collect();
            let mut problem =
                Diagnostic::error("script/import-cycle", format!("scripts import one another: {}", round.join(" -> ")))
                    .help("move what they share into a script of its own");
            for (path, import) in chain[start..].iter().rev() {
                if let Some(file) = parsed.get(*path) {
                    problem = problem.label(&file.source, import.span(file), format!("`{}` is imported here", import.script));
                }
            }
            problems.push(problem);
        } else if chain.len() >= DEEPEST {
            too_deep(file, import, problems);
            depths.insert(&import.script, 1);
        } else {
            let below = find_cycle(&import.script, parsed, depths, chain, problems);
            if below >= DEEPEST {
                too_deep(file, import, problems);
            } else {
                depth = depth.max(below + 1);
            }
        }
        chain.pop();
    }
    depths.insert(path, depth);
    depth
}

fn too_deep(file: &Parsed, import: &Import, problems: &mut Diagnostics) {
    let message = format!("scripts import one another through more than {DEEPEST} files");
    let problem = Diagnostic::error(fault::LIMIT, message).label(&file.source, import.span(file), "imported here");
    problems.push(problem.help("import what is needed directly"));
}

/// The files so that each comes after what it imports.
pub(crate) fn order(parsed: &BTreeMap<String, Arc<Parsed>>) -> Vec<&str> {
    fn visit<'a>(path: &'a str, parsed: &'a BTreeMap<String, Arc<Parsed>>, seen: &mut BTreeSet<&'a str>, out: &mut Vec<&'a str>) {
        if !seen.insert(path) {
            return;
        }
        for import in parsed.get(path).iter().flat_map(|file| &file.imports) {
            visit(&import.script, parsed, seen, out);
        }
        out.push(path);
    }
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    for path in parsed.keys() {
        visit(path, parsed, &mut seen, &mut out);
    }
    out
}
