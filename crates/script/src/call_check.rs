//! Checks that functions called across files exist.

use super::call_site::{Calls, ModuleCall};
use super::linked::LinkedScript;
use super::parse::Parsed;
use super::rhai_internals::tree::Function;
use super::words::parameters;
use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Reports calls of functions that do not exist. `waiting` are scripts that were taken as checked.
pub(crate) fn check_calls(
    scripts: &BTreeMap<String, Arc<Parsed>>,
    waiting: &BTreeMap<String, Arc<LinkedScript>>,
    conditions: &BTreeMap<String, Arc<Parsed>>,
    problems: &mut Diagnostics,
) {
    let texts = || scripts.values().chain(conditions.values());
    let mut members: BTreeSet<&str> = texts().flat_map(|text| &text.calls().members).map(String::as_str).collect();
    let unknown =
        |members: &BTreeSet<&str>| texts().any(|text| text.calls().methods.iter().any(|(name, _)| !members.contains(&**name)));
    if unknown(&members) {
        members.extend(waiting.values().flat_map(|script| &script.parsed().calls().members).map(String::as_str));
    }
    for text in texts() {
        let Calls { problems: found, methods, modules, .. } = text.calls();
        problems.extend(found.iter().cloned());
        let missing = methods.iter().filter(|(name, _)| !members.contains(name.as_str()));
        problems.extend(missing.map(|(_, problem)| problem.clone()));
        let script = |path: &str| scripts.get(path).or_else(|| Some(waiting.get(path)?.parsed()));
        problems.extend(modules.iter().filter_map(|call| call.problem(text, script(&call.script)?)));
    }
}

impl ModuleCall {
    fn problem(&self, text: &Parsed, script: &Parsed) -> Option<Diagnostic> {
        let Self { script: path, name, args, .. } = self;
        let named = || script.publics.iter().filter(|function| function.name == *name);
        if named().any(|function| function.params.len() == *args) {
            return None;
        }
        let counts: Vec<String> = named().map(|function| parameters(function.params.len())).collect();
        let private = || script.unit.tree().functions.iter().any(|function| function.name() == name && function.private);
        let problem = if !counts.is_empty() {
            Diagnostic::error("script/unknown-function", format!("`{name}` takes {}, not {args}", counts.join(" or ")))
        } else if private() {
            Diagnostic::error("script/private", format!("`{name}` is private in `{path}`")).help("remove the `private` there")
        } else {
            let known = script.publics.iter().map(|function| function.name.as_str());
            Diagnostic::error("script/unknown-function", format!("no function `{name}` in `{path}`"))
                .maybe_help(did_you_mean(name, known))
        };
        let (source, span) = text.unit.locate(text.unit.text().token(self.at).unwrap_or_default());
        let problem = problem.label(&source, span, "");
        let public = |function: &&Function| function.name() == name && !function.private;
        let defined = script.unit.tree().functions.iter().filter(public);
        let defined = defined.filter_map(|function| script.unit.definition(&function.head));
        Some(defined.fold(problem, |problem, (_, span)| problem.label(&script.source, span, "defined here")))
    }
}
