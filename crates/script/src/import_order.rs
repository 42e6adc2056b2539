//! Checks that imports exist and are acyclic, and sorts scripts in link order.

use super::fault;
use super::imports::Import;
use super::linked::LinkedScript;
use super::parse::Parsed;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The span of the path of an import.
fn written(import: &Import, file: &Parsed) -> Span {
    file.unit.text().token(import.position).unwrap_or_default()
}

/// Reports imports of missing scripts, and import cycles. `waiting` are scripts that were taken as checked, `texts` all scripts.
pub(crate) fn check_imports(
    parsed: &BTreeMap<String, Arc<Parsed>>,
    waiting: &BTreeMap<String, Arc<LinkedScript>>,
    texts: &BTreeMap<String, Source>,
    problems: &mut Diagnostics,
) {
    let is_there = |path: &str| parsed.contains_key(path) || waiting.contains_key(path);
    for file in parsed.values() {
        for import in file.imports.iter().filter(|import| !is_there(&import.script)) {
            // A script that exists but does not parse has been reported.
            if problems.iter().any(|problem| problem.primary().is_some_and(|label| label.source.name() == import.script)) {
                continue;
            }
            let known = did_you_mean(&import.script, texts.keys().map(String::as_str));
            let message = format!("unknown script `{}`", import.script);
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

/// Maximum length of a chain of imports, including the importing script.
const DEEPEST: usize = 64;

/// Reports import cycles reachable from a script, and chains that are too long. `depths` holds the longest chain from each
/// visited script; one that is too long counts as 1, so that it is reported once.
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
                    .help("move the shared parts into a separate script");
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

/// The files sorted so that each comes after its imports.
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
