//! Who imports whom inside of a module: no cycles, inner layers, and Rhai's internals in one place.

use crate::tidy::{File, none};
use std::collections::{BTreeMap, BTreeSet};

/// The inner layers of large modules, lowest first. A file imports from its own layer and those below; a directory is one unit.
const INNER: &[(&str, &[&[&str]])] = &[("pipeline", PIPELINE), ("script", SCRIPT), ("walk", WALK), ("session", SESSION)];

const WALK: &[&[&str]] = &[
    &["name", "sourced", "path", "error", "outcome", "content", "bounds", "because", "cluster", "fields", "views"],
    &["agent", "branch", "event_kind", "event", "event_outline", "journal", "queries", "memory", "review"],
    &["mask", "team_plan", "foreach_plan", "tool", "gate", "policy", "verdict", "root", "plan", "node_view"],
    &[
        "visit",
        "open_request",
        "attempt",
        "state",
        "rule_failures",
        "fork",
        "foreach",
        "revisions",
        "loop_detector",
        "thermal",
        "budget",
    ],
    &["step_context", "read_evidence", "policy_params", "params", "bare_prompt"],
    &["answer", "step_log", "request_log", "request", "answerer"],
    &["route", "rule_inputs", "shadow", "decision_step", "masks", "scripted", "team"],
    &["walker", "policy_step", "step", "branches"],
    &["ready_set", "drive"],
];

const SESSION: &[&[&str]] = &[
    &["error", "case_name", "setup", "finding", "run_batches", "trim", "worker_pool", "peers"],
    &["input", "texts", "load", "overlay_listing", "test_texts", "case_texts", "labelled"],
    &["route", "queries", "runs", "knowledge", "memories", "doctor", "answer_file", "briefing"],
    &["run_settings", "recorded", "work", "prompt"],
    &["listener", "migrate", "portal", "shadow", "outcome", "revisions", "run_context"],
    &["executor", "projection", "stages", "clean", "dispatch", "run_dir"],
    &["answers", "pending_batch", "assembly", "pending"],
    &["resume", "run", "labels"],
    &["investigate", "dream"],
];

const PIPELINE: &[&[&str]] = &[
    &["schema_words", "computed", "foreach", "tool", "thermal", "vars", "roots", "policy", "verdict"],
    &["graph"],
    &["raw"],
    &["keys", "json_schema"],
    &["read"],
    &["link"],
    &["same", "subpipelines", "write", "draw"],
];

const SCRIPT: &[&[&str]] = &[
    &["fault", "guard", "limits", "panic_guard", "reference"],
    &["compare", "equality", "json", "value_kind", "view"],
    &["rhai_internals"],
    &["array_methods", "engine", "environment", "forbidden", "pad", "sort", "strict", "text"],
    &["common_mistakes", "condition", "file_items", "imports", "parse_error", "recover", "resolver", "unit", "words"],
    &["probe", "running_test"],
    &["api", "builtins", "pattern"],
    &["call_check", "call_site", "eval_trace", "explain", "import_order", "link", "linked", "outline", "parse"],
    &[
        "effects",
        "eval_cache",
        "invoke",
        "library",
        "reachable",
        "responder",
        "returned_map",
        "role",
        "root_rule",
        "rule",
        "verdict_rule",
    ],
    &["check", "checked", "self_test", "test_call"],
];

/// What Rhai exports for those who know it from the inside (its feature `internals`).
const INTERNALS: &[&str] = &[
    "ASTFlags",
    "ASTNode",
    "BinaryExpr",
    "Caches",
    "CustomExpr",
    "Expr",
    "FlowControl",
    "FnCallExpr",
    "GlobalRuntimeState",
    "Ident",
    "Namespace",
    "OpAssignment",
    "ScriptFuncDef",
    "Stmt",
    "StmtBlock",
    "SwitchCasesCollection",
    "Token",
    "TokenizeState",
];

/// The one place that may use them.
const BOUNDARY: &str = "src/script/rhai_internals/";

/// A module's path, without `crate`.
type Module = Vec<String>;

/// The imports between the files of `src/`. Between a module and those inside it they do not count: a parent declares its
/// children, and children see its private items.
struct ImportGraph {
    edges: BTreeMap<Module, BTreeSet<Module>>,
}

/// What a file names of the crate.
#[derive(Default)]
struct FileImports {
    uses: BTreeSet<Module>,
    /// `pub use`: the name here, and what it stands for.
    reexports: BTreeMap<String, Module>,
}

impl ImportGraph {
    fn read() -> Self {
        let files: Vec<File> = File::all("src").into_iter().filter(|file| !file.test && file.module != "main").collect();
        let modules: BTreeSet<Module> = files.iter().map(module_of).collect();
        let imports: BTreeMap<Module, FileImports> = files
            .iter()
            .map(|file| {
                let code: Vec<&str> = file.code().map(|(_, line)| line).collect();
                (module_of(file), FileImports::read(&code.join("\n"), &module_of(file), &modules))
            })
            .collect();
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, found) in &imports {
            let targets = found.uses.iter().filter_map(|path| defining(path, &imports, 0));
            let targets =
                targets.filter(|target| !target.is_empty() && !target.starts_with(module) && !module.starts_with(target));
            edges.entry(module.clone()).or_default().extend(targets);
        }
        Self { edges }
    }

    fn of(&self, module: &Module) -> impl Iterator<Item = &Module> {
        self.edges.get(module).into_iter().flatten()
    }

    /// The files of its room that a file imports, directly or not. (Between rooms there are no cycles: they have layers.)
    fn reach(&self, module: &Module) -> BTreeSet<&Module> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Module> = self.of(module).collect();
        while let Some(next) = open.pop() {
            if is_in(next, &module[0]) && seen.insert(next) {
                open.extend(self.of(next));
            }
        }
        seen
    }
}

impl FileImports {
    fn read(code: &str, own: &Module, modules: &BTreeSet<Module>) -> Self {
        let mut found = Self::default();
        let mut rest = String::new();
        let mut statement = String::new();
        for line in code.lines().map(str::trim) {
            let begins = line.starts_with("use ") || line.starts_with("pub") && line.contains(" use ");
            if statement.is_empty() && !begins {
                rest.push_str(line);
                rest.push('\n');
                continue;
            }
            statement.push_str(line);
            statement.push(' ');
            if let Some((head, _)) = statement.split_once(';') {
                let (seen, tree) = head.split_once("use ").unwrap_or_default();
                for (path, name) in expand(tree, &[]) {
                    let Some(path) = absolute(&path, own, modules) else { continue };
                    if seen.is_empty() {
                        found.uses.insert(path);
                    } else {
                        found.reexports.insert(name, path);
                    }
                }
                statement.clear();
            }
        }
        let word = |ch: char| ch.is_alphanumeric() || ch == '_' || ch == ':';
        for path in rest.split(|ch| !word(ch)).filter(|path| path.contains("::") && !path.starts_with(':')) {
            let path: Vec<String> = path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            found.uses.extend(absolute(&path, own, modules));
        }
        found
    }
}

fn module_of(file: &File) -> Module {
    let below = file.path.trim_start_matches("src/").trim_end_matches(".rs");
    let mut path: Module = below.split('/').map(str::to_owned).collect();
    path.pop_if(|last| last == "mod" || last == "lib");
    path
}

/// Whether a file is of a module of the crate's root.
fn is_in(module: &Module, room: &str) -> bool {
    module.first().is_some_and(|first| first == room)
}

/// The paths of a tree of imports, each with the name that it gets.
fn expand(tree: &str, before: &[String]) -> Vec<(Module, String)> {
    let tree = tree.trim();
    let segments = |path: &str| -> Module {
        let parts = path.split("::").map(str::trim).filter(|part| !part.is_empty());
        before.iter().cloned().chain(parts.map(str::to_owned)).collect()
    };
    if let Some((head, list)) = tree.split_once('{') {
        let before = segments(head);
        let list = list.trim_end().strip_suffix('}').unwrap_or(list);
        let (mut depth, mut start) = (0_i32, 0);
        let mut found = Vec::new();
        for (at, ch) in list.char_indices().chain([(list.len(), ',')]) {
            match ch {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    let item = list[start..at].trim();
                    if !item.is_empty() {
                        found.extend(expand(item, &before));
                    }
                    start = (at + 1).min(list.len());
                }
                _ => {}
            }
        }
        return found;
    }
    let (path, renamed) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
    let path = segments(path);
    let name = renamed.map(str::to_owned).or_else(|| path.last().cloned()).unwrap_or_default();
    vec![(path, name)]
}

/// A path from the root of the crate; nothing for what is of another crate.
fn absolute(path: &[String], own: &Module, modules: &BTreeSet<Module>) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let path = match first.as_str() {
        "crate" => rest.to_vec(),
        "self" => [own.as_slice(), rest].concat(),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            [&own[..own.len().checked_sub(up)?], &path[up..]].concat()
        }
        _ => {
            let child = [own.as_slice(), path].concat();
            return modules.contains(&child[..=own.len()]).then_some(child);
        }
    };
    Some(path)
}

/// The file in which what a path names is defined.
fn defining(path: &[String], imports: &BTreeMap<Module, FileImports>, depth: usize) -> Option<Module> {
    let file = (0..=path.len()).rev().map(|length| &path[..length]).find(|part| imports.contains_key(*part))?;
    let through = path.get(file.len()).and_then(|name| imports.get(file)?.reexports.get(name));
    match through.filter(|_| depth < 20) {
        Some(target) => defining(&[target.as_slice(), &path[file.len() + 1..]].concat(), imports, depth + 1),
        None => Some(file.to_vec()),
    }
}

#[test]
fn the_paths_of_an_import_are_found() {
    let names =
        |tree: &str| expand(tree, &[]).iter().map(|(path, name)| format!("{}={name}", path.join("."))).collect::<Vec<_>>();
    assert_eq!(
        names("crate::diag::{self, Source as S, a::{b, c}}"),
        ["crate.diag.self=self", "crate.diag.Source=S", "crate.diag.a.b=b", "crate.diag.a.c=c"]
    );
    assert_eq!(names("super::x"), ["super.x=x"]);
    let modules: BTreeSet<Module> = [vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]].into();
    let of = |path: &str| absolute(&path.split("::").map(str::to_owned).collect::<Vec<_>>(), &vec!["a".to_owned()], &modules);
    assert_eq!(of("super::c::D"), Some(vec!["c".to_owned(), "D".to_owned()]));
    assert_eq!(of("b::D").map(|path| path.join(".")), Some("a.b.D".to_owned()));
    assert_eq!(of("std::fmt"), None);
}

/// A file can be understood after those that it imports.
#[test]
fn files_do_not_import_one_another_in_cycles() {
    let graph = ImportGraph::read();
    let mut found = Vec::new();
    for module in graph.edges.keys() {
        if module.is_empty() || !graph.reach(module).contains(module) {
            continue;
        }
        let back = graph.of(module).filter(|next| is_in(next, &module[0]) && graph.reach(next).contains(module));
        let back: Vec<String> = back.map(|next| next.join("::")).collect();
        found.push(format!("{} -> {}", module.join("::"), back.join(", ")));
    }
    none("imports in cycles", &found);
}

#[test]
fn files_import_lower_inner_layers_only() {
    let graph = ImportGraph::read();
    let mut wrong = Vec::new();
    for (room, layers) in INNER {
        let layer = |part: &str| layers.iter().position(|layer| layer.contains(&part));
        let parts: BTreeSet<&str> =
            graph.edges.keys().filter(|module| is_in(module, room)).filter_map(|module| Some(module.get(1)?.as_str())).collect();
        wrong.extend(parts.iter().filter(|part| layer(part).is_none()).map(|part| format!("{room}::{part} has no layer")));
        let listed = layers.iter().flat_map(|layer| layer.iter()).filter(|part| !parts.contains(**part));
        wrong.extend(listed.map(|part| format!("{room}::{part} is in the table and nowhere else")));
        for (module, targets) in graph.edges.iter().filter(|(module, _)| is_in(module, room) && module.len() > 1) {
            let upward = targets.iter().filter(|target| is_in(target, room) && layer(&target[1]) > layer(&module[1]));
            wrong.extend(upward.map(|target| format!("{} imports {}", module.join("::"), target.join("::"))));
        }
    }
    none("imports against the inner layers", &wrong);
}

/// An upgrade of Rhai is a change of one directory.
#[test]
fn rhai_is_used_by_scripts_and_its_internals_in_one_place() {
    let mut wrong = Vec::new();
    for file in File::all("src").iter().filter(|file| !file.path.starts_with(BOUNDARY)) {
        let mut statement = String::new();
        for (number, line) in file.code() {
            statement.push_str(line.trim());
            if statement.starts_with("use ") && !statement.ends_with(';') {
                continue;
            }
            if let Some((_, named)) = statement.split_once("rhai::") {
                if file.module != "script" {
                    wrong.push(format!("{}:{number}: `rhai::` outside of `script`", file.path));
                }
                let mut words = named.split(|ch: char| !ch.is_alphanumeric() && ch != '_');
                if let Some(word) = words.find(|word| INTERNALS.contains(word)) {
                    wrong.push(format!("{}:{number}: `{word}` of Rhai's internals", file.path));
                }
            }
            statement.clear();
        }
    }
    none("Rhai outside of its boundary", &wrong);
}
