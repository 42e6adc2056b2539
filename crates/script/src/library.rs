//! A linked set of scripts and conditions, immutable and shared.

use super::invoke::{FunctionText, ScriptFunction};
use super::limits::ScriptLimits;
use super::link;
use super::linked::{Callee, LibraryInputs, LinkedLibrary, LinkedScript};
use super::parse::Parsed;
use super::probe::ProbeTable;
use super::reference::FunctionRef;
use super::unit::Unit;
use super::words::parameters;
use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use std::sync::Arc;

/// A linked library. Cloning costs one reference count.
#[derive(Clone)]
pub struct Library(Arc<LinkedLibrary>);

impl Library {
    /// Parses, checks and links. All errors of all files are reported; whatever did not change since `previous` is reused.
    pub fn link(inputs: LibraryInputs, previous: Option<&Self>) -> Result<Self, Diagnostics> {
        link::link(inputs, previous.map(|library| &*library.0)).map(Self)
    }

    /// Looks up a function by reference. The diagnostic concerns the reference, so the caller adds the primary label; if the
    /// function is defined but unsuitable, its definition is labelled.
    pub fn function(&self, reference: &FunctionRef, arity: usize) -> Result<ScriptFunction, Diagnostic> {
        let Some(file) = self.0.files.get(&reference.file) else {
            let known = self.paths();
            let message = format!("unknown script `{}` for `{reference}`", reference.file);
            return Err(Diagnostic::error("script/unknown-file", message).maybe_help(did_you_mean(&reference.file, known)));
        };
        let name = reference.function.as_str();
        let mut named = file.callees.iter().filter(|callee| callee.name == name);
        if let Some(callee) = named.clone().find(|callee| callee.params.len() == arity) {
            if callee.private {
                return Err(private(reference, callee, file.parsed()));
            }
            return Ok(ScriptFunction::new(self.0.clone(), FunctionText::Script(file.clone()), callee.clone()));
        }
        Err(match named.next() {
            Some(callee) if callee.private => private(reference, callee, file.parsed()),
            Some(callee) => {
                let message = format!("`{reference}` takes {}, but is called with {arity}", parameters(callee.params.len()));
                let label = format!("`{name}({})`", callee.params.join(", "));
                labelled(Diagnostic::error("script/arity", message), callee, file.parsed(), label)
            }
            None => {
                let known = file.callees.iter().filter(|callee| !callee.private).map(|callee| callee.name.as_str());
                let message = format!("unknown function `{reference}`");
                Diagnostic::error("script/unknown-function", message).maybe_help(did_you_mean(name, known))
            }
        })
    }

    /// The condition with this key.
    pub fn condition(&self, key: &str) -> Option<ScriptFunction> {
        let condition = self.0.conditions.get(key)?;
        let text = FunctionText::Condition(condition.parsed.clone());
        Some(ScriptFunction::new(self.0.clone(), text, condition.callee.clone()))
    }

    /// The parsed conditions, for static checks.
    pub fn conditions(&self) -> impl Iterator<Item = &Unit> {
        self.0.conditions.values().map(|condition| &condition.parsed.unit)
    }

    /// The texts with probes that were parsed, and their tables: scripts by path, then conditions by key.
    pub fn probed(&self) -> impl Iterator<Item = (&Unit, &ProbeTable)> {
        let files = self.0.files.values().filter_map(|file| file.parsed_before());
        let conditions = self.0.conditions.values().map(|condition| &condition.parsed);
        files.chain(conditions).filter_map(|parsed| Some((&parsed.unit, parsed.table.as_ref()?)))
    }

    /// The scripts, by path.
    pub fn files(&self) -> impl Iterator<Item = &LinkedScript> {
        self.0.files.values().map(|file| &**file)
    }

    /// The paths of all scripts, those that are not linked included.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.texts.keys().map(String::as_str)
    }

    /// Whether a script defines a function of that name, linked or not.
    pub fn mentions(&self, path: &str, function: &str) -> bool {
        self.0.texts.get(path).is_some_and(|source| source.text().contains(&format!("fn {function}(")))
    }

    /// The script at this path.
    pub fn file(&self, path: &str) -> Option<&LinkedScript> {
        self.0.files.get(path).map(|file| &**file)
    }

    /// The value of a constant of a script (`const NODES = [..]`), if it exists and is plain data.
    pub fn constant(&self, path: &str, name: &str) -> Option<serde_json::Value> {
        self.0.constant(self.0.files.get(path)?, name)
    }

    /// Parses and evaluates the scripts that wait for their first call. Where that fails, the call says why.
    pub fn prepare(&self) {
        for file in self.0.files.values() {
            drop(self.0.evaluate(file));
        }
    }

    /// The limits of calls.
    pub fn limits(&self) -> &ScriptLimits {
        &self.0.limits
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({} files, {} conditions)", self.0.files.len(), self.0.conditions.len())
    }
}

fn private(reference: &FunctionRef, callee: &Callee, parsed: &Parsed) -> Diagnostic {
    let error = Diagnostic::error("script/private", format!("`{reference}` is private")).help("remove the `private`");
    labelled(error, callee, parsed, "private here".into())
}

fn labelled(diagnostic: Diagnostic, callee: &Callee, parsed: &Parsed, text: String) -> Diagnostic {
    match callee.definition(parsed) {
        Some((source, span)) => diagnostic.label(&source, span, text),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{find, function, line, link, try_link};
    use serde_json::json;

    fn refused(library: &Library, reference: &str, arity: usize) -> String {
        line(&library.function(&FunctionRef::parse(reference).expect("a reference"), arity).expect_err("refused"))
    }

    #[test]
    fn a_function_has_its_metadata() {
        let library = link(&[(
            "rules/a.rhai",
            "//! About the file.\n\n/// Recall hit.\n///\n/// Twice.\nfn hit(artifact, state, vars) { true }\nprivate fn p() { 1 }\nfn q() { p() }",
        )]);
        let hit = find(&library, "rules/a.rhai#hit", 3);
        assert_eq!((hit.name(), hit.file(), hit.key().as_str()), ("hit", Some("rules/a.rhai"), "rules/a.rhai#hit"));
        assert_eq!(
            (hit.doc(), hit.params()),
            ("Recall hit.\n\nTwice.", &["artifact".to_owned(), "state".into(), "vars".into()][..])
        );
        let (source, span) = hit.definition().expect("a definition");
        assert_eq!((source.slice(span), source.line_column(span.start)), ("hit", (6, 4)));
        let publics: Vec<&str> =
            library.files().flat_map(LinkedScript::functions).map(|function| function.name.as_str()).collect();
        assert_eq!(publics, ["hit", "q"]);
        assert_eq!(find(&library, "rules/a.rhai#q", 0).call_json(&[]).expect("fine"), json!(1));
    }

    #[test]
    fn unknown_references_get_suggestions() {
        let library = link(&[("rules/a.rhai", "fn hit(artifact, state, vars) { true } private fn p() { 1 }")]);
        assert_eq!(
            refused(&library, "rules/b.rhai#hit", 3),
            "script/unknown-file @ : unknown script `rules/b.rhai` for `rules/b.rhai#hit` | did you mean `rules/a.rhai`?"
        );
        assert_eq!(
            refused(&library, "rules/a.rhai#hits", 3),
            "script/unknown-function @ : unknown function `rules/a.rhai#hits` | did you mean `hit`?"
        );
        assert_eq!(
            refused(&library, "rules/a.rhai#hit", 2),
            "script/arity @ rules/a.rhai:hit: `rules/a.rhai#hit` takes 3 parameters, but is called with 2"
        );
        assert_eq!(
            refused(&library, "rules/a.rhai#p", 0),
            "script/private @ rules/a.rhai:p: `rules/a.rhai#p` is private | remove the `private`"
        );
    }

    #[test]
    fn functions_are_overloaded_by_parameter_count() {
        let library = link(&[("a.rhai", "fn f(x) { 1 } fn f(x, y) { 2 }")]);
        assert_eq!(find(&library, "a.rhai#f", 1).call_json(&[json!(0)]).expect("fine"), json!(1));
        assert_eq!(find(&library, "a.rhai#f", 2).call_json(&[json!(0), json!(0)]).expect("fine"), json!(2));
    }

    #[test]
    fn functions_take_and_return_json() {
        let f = function("fn f(a, b) { #{ sum: a.x + b, list: a.l, nothing: a.n } }", 2);
        let got = f.call_json(&[json!({"x": 1, "l": [1, "é"], "n": null}), json!(2.5)]).expect("fine");
        assert_eq!(got, json!({"sum": 3.5, "list": [1, "é"], "nothing": null}));
        assert_eq!(function("fn f(a) { a == () }", 1).call_json(&[json!(null)]).expect("fine"), json!(true));
        assert_eq!(function("fn f(a) { a += 1; a }", 1).call_json(&[json!(1)]).expect("parameters are variables"), json!(2));
    }

    #[test]
    fn constants_of_a_file_can_be_read() {
        let library = link(&[(
            "mask.rhai",
            "const NODES = [\"recall\", \"triage\"]; const N = 1 + 2;\nfn pre(ctx) { global::NODES.len() + global::N }",
        )]);
        assert_eq!(library.constant("mask.rhai", "NODES"), Some(json!(["recall", "triage"])));
        assert_eq!(library.constant("mask.rhai", "NEEDS"), None);
        assert_eq!(find(&library, "mask.rhai#pre", 1).call_json(&[json!({})]).expect("fine"), json!(5));
    }

    #[test]
    fn calls_are_independent_of_threads() {
        let library = link(&[("a.rhai", "fn f(x) { let n = 0; for i in 0..100 { n += i; } n + x }")]);
        let f = find(&library, "a.rhai#f", 1);
        std::thread::scope(|scope| {
            for at in 0..4 {
                let f = &f;
                scope.spawn(move || assert_eq!(f.call_json(&[json!(at)]).expect("fine"), json!(4950 + at)));
            }
        });
    }

    #[test]
    fn errors_of_all_files_are_reported_at_once() {
        let problems = try_link(&[
            ("a.rhai", "fn f( {"),
            ("b.rhai", "fn g() { zz }"),
            ("c.rhai", "fn ok() { 1 }"),
            ("d.rhai", "import \"cc\" as c;"),
        ]);
        let message: Vec<String> = problems.expect_err("problems").iter().map(line).collect();
        assert_eq!(message.len(), 3, "{message:#?}");
        assert!(message[0].starts_with("script/syntax @ a.rhai:{: "), "{message:#?}");
        assert!(message[1].starts_with("script/unknown-variable @ b.rhai:zz: "), "{message:#?}");
        assert_eq!(message[2], "script/import @ d.rhai:\"cc\": unknown script `cc.rhai` | did you mean `c.rhai`?");
    }
}
