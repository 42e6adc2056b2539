//! Whether what scripts import is there and leads to no circle, and the order to link them in.

use super::fault;
use super::imports::Import;
use super::parse::Parsed;
use crate::diag::{Diagnostic, Diagnostics, Span, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The path of an import as it is written.
fn written(import: &Import, file: &Parsed) -> Span {
    file.unit.text().token(import.position).unwrap_or_default()
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
                    .label(&file.source, written(import, file), "imported here")
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
                    problem = problem.label(&file.source, written(import, file), format!("`{}` is imported here", import.script));
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
    let problem = Diagnostic::error(fault::LIMIT, message).label(&file.source, written(import, file), "imported here");
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
