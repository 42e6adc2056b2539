//! Links texts to a library: parses what changed, checks the imports, sorts by them, evaluates each file's constants once.

use super::call_check::check_calls;
use super::condition::{self, Condition};
use super::engine;
use super::import_order::{check_imports, order};
use super::limits::ScriptLimits;
use super::linked::{LibraryInputs, LinkedCondition, LinkedLibrary, LinkedScript};
use super::outline::{ScriptOutline, names_after_dots};
use super::parse::{ParseSettings, Parsed, finish, parse_file};
use super::probe::{self, Probes, is_profiled};
use super::reference::is_test_file;
use super::resolver::ScriptResolver;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span};
use rhai::Engine;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// The functions that scripts may call besides the language's own.
const HOST_API: engine::Extend = super::api::register;

pub(crate) fn link(inputs: LibraryInputs, previous: Option<&LinkedLibrary>) -> Result<Arc<LinkedLibrary>, Diagnostics> {
    let LibraryInputs { scripts, conditions, fields, limits, probes, reached, trusted } = inputs;
    // A thread that is profiled links for profiles.
    let probes = if probes == Probes::None && is_profiled() { Probes::Statements } else { probes };
    let previous = previous.filter(|previous| previous.limits == limits && previous.probes == probes);
    let mut problems = Diagnostics::new();
    let mut engine = engine::build(&limits, [], HOST_API);
    if probes != Probes::None {
        probe::register(&mut engine, &limits);
    }
    let with_tests = scripts.iter().any(|script| is_test_file(script.name()));
    if with_tests {
        super::api::register_for_tests(&mut engine);
    }
    let settings = ParseSettings { engine: &engine, limits: &limits, fields: &fields, probes };
    let texts = by_path(scripts, &mut problems);
    let mut reader = ScriptReader {
        trust: TrustedScripts { texts: &texts, outlines: BTreeMap::new(), trusted },
        settings,
        previous,
        parsed: BTreeMap::new(),
        waiting: BTreeMap::new(),
    };
    let wanted: Vec<&str> = match &reached {
        Some(reached) => texts.keys().map(String::as_str).filter(|path| reached.contains(*path)).collect(),
        None => texts.keys().map(String::as_str).collect(),
    };
    reader.read(wanted, &mut problems);
    let ScriptReader { parsed, waiting, .. } = reader;
    check_imports(&parsed, &waiting, &texts, &mut problems);
    let conditions = parse_conditions(settings, conditions, previous, &mut problems);
    check_calls(&parsed, &waiting, &conditions, &mut problems);
    if problems.has_errors() {
        return Err(problems);
    }
    let read: BTreeSet<String> = parsed.values().chain(conditions.values()).flat_map(|parsed| parsed.fields()).collect();
    let named = waiting.values().flat_map(|script| names_after_dots(script.source().text()));
    let names: BTreeSet<&str> = fields.iter().chain(&read).map(String::as_str).chain(named).collect();
    super::view::register_fields(&mut engine, names);
    let modules = ScriptResolver::default();
    engine.set_module_resolver(modules.clone());
    let mut files = waiting;
    let in_order: Vec<&str> = order(&parsed);
    for path in &in_order {
        let Some(parsed) = parsed.get(*path) else { continue };
        let script = LinkedScript::of_parsed(parsed, probes, &files);
        let before = previous.and_then(|previous| previous.files.get(*path));
        let before = before.filter(|before| !before.trusted && before.deep == script.deep);
        files.insert((*path).to_owned(), before.cloned().unwrap_or_else(|| Arc::new(script)));
    }
    let conditions = conditions.into_iter().map(|(key, parsed)| (key, LinkedCondition::new(parsed))).collect();
    let linked = Arc::new(LinkedLibrary { engine, limits, probes, files, texts, conditions, modules });
    let mut failed: BTreeSet<&str> = BTreeSet::new();
    for path in in_order {
        let Some(script) = linked.files.get(path) else { continue };
        if script.imports().any(|import| failed.contains(import)) {
            failed.insert(path); // what it imports did not link, and was reported
        } else if let Err(problem) = linked.evaluate(script) {
            problems.push(problem);
            failed.insert(path);
        }
    }
    problems.into_result(linked)
}

/// The texts by path; one that is there twice is an error.
fn by_path(scripts: Vec<Source>, problems: &mut Diagnostics) -> BTreeMap<String, Source> {
    let mut texts = BTreeMap::new();
    for source in scripts {
        if texts.contains_key(source.name()) {
            problems.push(
                Diagnostic::error("script/duplicate-file", format!("there are two scripts `{}`", source.name())).label(
                    &source,
                    Span::default(),
                    "",
                ),
            );
            continue;
        }
        texts.insert(source.name().to_owned(), source);
    }
    texts
}

/// Determines which scripts are bundled with all their imports.
struct TrustedScripts<'a> {
    texts: &'a BTreeMap<String, Source>,
    /// By path, the outlines of those that are, and `None` for others.
    outlines: BTreeMap<&'a str, Option<Rc<ScriptOutline<'a>>>>,
    /// Whether any is to be trusted.
    trusted: bool,
}

impl<'a> TrustedScripts<'a> {
    /// The outline of a script, if it is one of them.
    fn outline(&mut self, path: &str) -> Option<Rc<ScriptOutline<'a>>> {
        let (path, source) = self.texts.get_key_value(path).filter(|_| self.trusted)?;
        if let Some(known) = self.outlines.get(path.as_str()) {
            return known.clone();
        }
        // Bundled scripts don't import one another in cycles; others are not followed.
        let outline = source.is_bundled().then(|| ScriptOutline::of(source.text()));
        let outline = outline.filter(|outline| outline.imports.iter().all(|import| self.outline(import).is_some())).map(Rc::new);
        self.outlines.insert(path, outline.clone());
        outline
    }
}

/// Reads scripts, and the scripts that they import.
struct ScriptReader<'a> {
    trust: TrustedScripts<'a>,
    settings: ParseSettings<'a>,
    previous: Option<&'a LinkedLibrary>,
    parsed: BTreeMap<String, Arc<Parsed>>,
    waiting: BTreeMap<String, Arc<LinkedScript>>,
}

impl ScriptReader<'_> {
    fn read(&mut self, wanted: Vec<&str>, problems: &mut Diagnostics) {
        let mut open: Vec<String> = wanted.into_iter().rev().map(str::to_owned).collect();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(path) = open.pop() {
            let Some(source) = self.trust.texts.get(&path).filter(|_| seen.insert(path.clone())) else { continue };
            if let Some(outline) = self.trust.outline(&path) {
                self.wait(source, &outline);
                continue;
            }
            let before = self.previous.and_then(|previous| previous.files.get(&path)?.parsed_before());
            let parsed = match before.filter(|before| before.source.text() == source.text()) {
                Some(before) => Ok(before.clone()),
                None => parse_file(self.settings, source, problems).map(Arc::new),
            };
            match parsed {
                Ok(parsed) => {
                    open.extend(parsed.imports.iter().map(|import| import.script.clone()));
                    self.parsed.insert(path, parsed);
                }
                Err(problem) => problems.push(problem),
            }
        }
    }

    /// Adds a trusted script, and those that it imports.
    fn wait(&mut self, source: &Source, outline: &ScriptOutline<'_>) {
        if self.waiting.contains_key(source.name()) {
            return;
        }
        for import in &outline.imports {
            if let (Some(source), Some(outline)) = (self.trust.texts.get(import), self.trust.outline(import)) {
                self.wait(source, &outline);
            }
        }
        let script = LinkedScript::waiting(source, outline, self.settings.probes, &self.waiting);
        self.waiting.insert(source.name().to_owned(), script);
    }
}

fn parse_conditions(
    settings: ParseSettings<'_>,
    conditions: Vec<Condition>,
    previous: Option<&LinkedLibrary>,
    problems: &mut Diagnostics,
) -> BTreeMap<String, Arc<Parsed>> {
    static LOOSE: LazyLock<Engine> = LazyLock::new(|| {
        let mut loose = engine::build(&ScriptLimits::default(), [], HOST_API);
        loose.set_strict_variables(false);
        loose
    });
    let mut parsed: BTreeMap<String, Arc<Parsed>> = BTreeMap::new();
    for condition in conditions {
        let key = condition.key.clone();
        if parsed.contains_key(&key) {
            let message = format!("there are two conditions `{key}`");
            problems.push(Diagnostic::error("script/duplicate-condition", message).label(
                condition.text.file(),
                condition.text.whole(),
                "",
            ));
            continue;
        }
        let before = previous.and_then(|previous| previous.conditions.get(&key)).map(|condition| &condition.parsed);
        if let Some(before) =
            before.filter(|before| before.mapped.as_ref() == Some(&condition.text) && condition.locals.is_empty())
        {
            parsed.insert(key, before.clone());
            continue;
        }
        match condition::parse(settings.engine, &LOOSE, &condition, settings.fields) {
            Ok(unit) => {
                let source = condition.text.file().clone();
                let finished = Parsed { mapped: Some(condition.text), ..finish(unit, source, Vec::new(), settings.probes) };
                parsed.insert(key, Arc::new(finished));
            }
            Err(problem) => problems.push(problem),
        }
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Library;
    use crate::fault;
    use crate::testing::{condition, find, line, link, problem, try_link};
    use serde_json::json;

    #[test]
    fn scripts_import_one_another() {
        let library = link(&[
            (
                "lib/base.rhai",
                "export const K = 5; const LIMIT = 2;\nfn over(x, t) { [x].filter(|y| y >= t).len() > 0 }\nfn lim() { global::LIMIT }",
            ),
            ("lib/mid.rhai", "import \"lib/base\" as b;\nfn both(x, t) { b::over(x, t) && b::lim() == 2 }"),
            (
                "r.rhai",
                "import \"lib/mid\" as m;\nimport \"lib/base.rhai\" as b;\nconst MINE = 3;\nfn f(a) { m::both(a.c, 0.5) && global::MINE == 3 && b::K == 5 && local() }\nfn local() { b::lim() == 2 }",
            ),
        ]);
        assert_eq!(find(&library, "r.rhai#f", 1).call_json(&[json!({"c": 0.9})]).expect("fine"), json!(true));
        assert_eq!(library.file("r.rhai").expect("there").imports().collect::<Vec<_>>(), ["lib/mid.rhai", "lib/base.rhai"]);
    }

    #[test]
    fn imports_stay_below_the_script_root() {
        for path in ["../x", "/etc/passwd", "a/../../x", "..", "C:/x", "a\\\\b", "a//b", "./a", ""] {
            let message = line(&problem(&[("a.rhai", &format!("import \"{path}\" as x;"))]));
            assert!(message.starts_with(&format!("script/import @ a.rhai:\"{path}\": `")), "{message}");
        }
    }

    #[test]
    fn imports_are_literal_and_at_the_head() {
        let message = |text: &str| line(&problem(&[("a.rhai", text), ("b.rhai", "fn g() { 1 }")]));
        let place =
            "script/import @ a.rhai:import: an import must be at the head of the file | move it out of the function or block";
        assert_eq!(message("fn f() { import \"b\" as b; b::g() }"), place);
        assert_eq!(message("fn f() { [1].map(|x| { import \"b\" as b; b::g() }) }"), place);
        assert_eq!(message("if true { import \"b\" as b; }"), place);
        let written = "the path of an import must be written out | write it as a string: `import \"lib/base\" as base;`";
        assert_eq!(message("import \"b\" + \"\" as b;"), format!("script/import @ a.rhai:\"b\" + \"\": {written}"));
        assert_eq!(message("import `${1}b` as b;"), format!("script/import @ a.rhai:`${{1}}b`: {written}"));
        let twice = message("import \"b\" as b; import \"b\" as b;");
        assert_eq!(
            twice,
            "script/duplicate-import @ a.rhai:b: duplicate import `b` (the other is in line 1) | give one of them another name"
        );
    }

    #[test]
    fn import_cycles_are_refused_with_their_chain() {
        let message = line(&problem(&[
            ("a.rhai", "import \"b\" as b;"),
            ("b.rhai", "import \"c\" as c;"),
            ("c.rhai", "import \"a\" as a;"),
            ("d.rhai", "import \"a\" as a;"),
        ]));
        assert_eq!(
            message,
            "script/import-cycle @ c.rhai:\"a\", b.rhai:\"c\", a.rhai:\"b\": scripts import one another: a.rhai -> b.rhai -> c.rhai -> a.rhai \
             | move the shared parts into a separate script"
        );
        assert!(line(&problem(&[("a.rhai", "import \"a\" as a;")])).contains("a.rhai -> a.rhai"));
    }

    /// `layers` of two scripts, each of which imports both of the next layer twice.
    fn diamond(layers: usize) -> Vec<(String, String)> {
        let mut scripts = Vec::new();
        for layer in 0..layers {
            for side in ["a", "b"] {
                let (next, last) = (layer + 1, layer + 1 == layers);
                let text = if last {
                    "fn g() { 1 } export const K = 7;".to_owned()
                } else {
                    format!(
                        "import \"a{next}\" as a; import \"b{next}\" as b; import \"a{next}.rhai\" as c;\n\
                         import \"b{next}.rhai\" as d;\nexport const K = a::K; fn g() {{ a::g() + [1].map(|x| d::K)[0] - b::K + c::K - 7 }}"
                    )
                };
                scripts.push((format!("{side}{layer}.rhai"), text));
            }
        }
        scripts
    }

    #[test]
    fn a_module_contains_only_its_own_items() {
        let scripts = diamond(30);
        let scripts: Vec<(&str, &str)> = scripts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let library = link(&scripts);
        assert_eq!(find(&library, "a0.rhai#g", 0).call_json(&[]).expect("fine"), json!(1));
        for file in library.files() {
            let module = &file.evaluated().expect("linked").module;
            let inner: Vec<_> = module.iter_sub_modules().map(|(_, module)| module.count()).collect();
            assert!(inner.iter().all(|count| *count == (0, 0, 0)), "{}: {inner:?}", file.path());
        }
    }

    #[test]
    fn the_depth_of_imports_is_limited() {
        // Named forwards and backwards: the files are visited in order of their names.
        for (length, fine) in [(64, true), (65, false), (3_000, false)] {
            for name in [|at: usize| format!("m{at:05}"), |at: usize| format!("m{:05}", 99_999 - at)] {
                let text = |at| if at + 1 == length { String::new() } else { format!("import \"{}\" as m;", name(at + 1)) };
                let scripts: Vec<_> = (0..length).map(|at| (name(at) + ".rhai", text(at))).collect();
                let scripts: Vec<_> = scripts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
                let linked = try_link(&scripts);
                assert_eq!(linked.is_ok(), fine, "{length}");
                let codes = linked.err().into_iter().flatten().map(|problem| problem.code);
                assert!(codes.into_iter().all(|code| code == fault::LIMIT));
            }
        }
    }

    #[test]
    fn a_script_sees_only_its_direct_imports() {
        let base = ("b.rhai", "fn g() { 1 } export const K = 2;");
        let mid = ("m.rhai", "import \"b\" as b; fn g() { b::g() }");
        for (path, label) in [("m::b::g()", "g"), ("m::b::K", "K")] {
            let message = line(&problem(&[base, mid, ("a.rhai", &format!("import \"m\" as m; fn f() {{ {path} }}"))]));
            assert_eq!(
                message,
                format!(
                    "script/import @ a.rhai:{label}: `m::b` is imported by another script | import it here too, under its own name"
                )
            );
        }
    }

    #[test]
    fn failing_constants_are_labelled() {
        assert!(
            line(&problem(&[("a.rhai", "const A = 1 / 0;\nfn f() { 1 }")])).starts_with("script/arithmetic @ a.rhai:1 / 0: ")
        );
        let message = line(&problem(&[("a.rhai", "fn g(x) { x.nope } const A = g(#{});"), ("b.rhai", "import \"a\" as a;")]));
        assert!(message.starts_with("script/unknown-key @ a.rhai:nope, a.rhai:g: "), "{message}");
        let limits = ScriptLimits { operations: 10_000, ..ScriptLimits::default() };
        let problems = crate::testing::try_link_with(&[("a.rhai", "loop {}")], limits).expect_err("endless");
        assert!(problems.iter().all(|problem| problem.code == fault::LIMIT), "{problems}");
    }

    #[test]
    fn paths_are_unique() {
        assert!(
            line(&problem(&[("a.rhai", "fn f() { 1 }"), ("a.rhai", "fn f() { 2 }")])).starts_with("script/duplicate-file @ ")
        );
        let conditions = vec![condition("true"), condition("false")];
        let problems = Library::link(LibraryInputs { conditions, ..LibraryInputs::default() }, None).expect_err("two");
        assert_eq!(problems.iter().next().map(|problem| &*problem.code), Some("script/duplicate-condition"));
    }

    #[test]
    fn duplicate_functions_are_labelled_twice() {
        let message = line(&problem(&[("a.rhai", "fn f(x) { 1 }\nfn g() { 1 }\nfn f(y) { 2 }")]));
        assert!(
            message.starts_with("script/duplicate-function @ a.rhai:")
                && message.contains("`f` with 1 parameter is defined twice"),
            "{message}"
        );
    }

    #[test]
    fn unchanged_scripts_are_reused() {
        let base = ("lib/base.rhai", "fn one() { 1 }");
        let user = ("user.rhai", "import \"lib/base\" as b;\nfn f() { b::one() }");
        let other = ("other.rhai", "fn g() { 7 }");
        let first = link(&[base, user, other]);
        let again = |scripts: &[(&str, &str)]| {
            let scripts = scripts.iter().map(|(path, text)| Source::new(*path, *text)).collect();
            Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, Some(&first)).expect("links")
        };
        let same_module = |a: &Library, b: &Library, path: &str| {
            let module = |library: &Library| {
                let file = library.file(path).expect("there");
                file.evaluated().expect("evaluated").module.clone()
            };
            rhai::Shared::ptr_eq(&module(a), &module(b))
        };
        let same = again(&[base, user, other]);
        for path in ["lib/base.rhai", "user.rhai", "other.rhai"] {
            assert!(same_module(&first, &same, path), "{path}");
            assert_eq!(first.file(path).expect("there").deep_hash(), same.file(path).expect("there").deep_hash());
        }
        let edited = again(&[("lib/base.rhai", "fn one() { 2 }"), user, other]);
        assert!(!same_module(&first, &edited, "lib/base.rhai") && !same_module(&first, &edited, "user.rhai"));
        assert!(same_module(&first, &edited, "other.rhai"));
        let (before, after) = (first.file("user.rhai").expect("there"), edited.file("user.rhai").expect("there"));
        assert!(Arc::ptr_eq(before.parsed(), after.parsed()), "parsed once");
        assert_eq!(before.hash(), after.hash());
        assert_ne!(before.deep_hash(), after.deep_hash());
        assert_eq!(find(&edited, "user.rhai#f", 0).call_json(&[]).expect("fine"), json!(2));
        assert_eq!(find(&first, "user.rhai#f", 0).call_json(&[]).expect("fine"), json!(1), "the old one still answers");
    }

    #[test]
    fn a_field_named_like_a_reserved_word_can_be_read_after_a_dot() {
        let library = link(&[("a.rhai", "fn f(a) { a.match && a?.match && a[\"match\"] && #{match: true}.match }")]);
        assert_eq!(find(&library, "a.rhai#f", 1).call_json(&[json!({"match": true})]).expect("fine"), json!(true));
    }

    #[test]
    fn a_constant_named_in_a_function_gets_help() {
        let message = line(&problem(&[("a.rhai", "const LIMIT = 2;\nfn f() { LIMIT }")]));
        assert_eq!(
            message,
            "script/unknown-variable @ a.rhai:LIMIT: `LIMIT` is not defined here | a function reads a constant of its file as `global::LIMIT`"
        );
        assert!(try_link(&[("a.rhai", "const LIMIT = 2;\nconst MORE = LIMIT + 1;\nfn f() { global::MORE }")]).is_ok());
    }
}
