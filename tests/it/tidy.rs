//! Conventions of the sources: heads of files, who prints, and no word of the domain in Rust.

use crate::harness::{Project, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the program's sources are: the front, and the crates below it.
fn source_dirs() -> Vec<String> {
    let crates = fs::read_dir(repository().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let crates = crates.map(|name| format!("crates/{}/src", name.to_str().unwrap()));
    let mut dirs: Vec<String> = crates.chain(["src".to_owned()]).collect();
    dirs.sort();
    dirs
}

/// A directory's files of an ending, in order.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|have| have == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A Rust file of the repository.
pub(crate) struct File {
    /// Its path below the repository.
    pub(crate) path: String,
    text: String,
    /// Whether it is compiled for tests only.
    pub(crate) test: bool,
}

impl File {
    /// The files of the program.
    fn sources() -> Vec<Self> {
        source_dirs().iter().flat_map(|dir| Self::all(dir)).collect()
    }

    fn all(dir: &str) -> Vec<Self> {
        let tests = test_modules();
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            let below = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
            let test = tests.iter().any(|module| path.starts_with(module) || path.with_extension("") == *module);
            Self { path: below, text, test }
        };
        files(&repository().join(dir), "rs").into_iter().map(read).collect()
    }

    /// Its lines up to its tests, with their numbers; comments are empty.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let own = self.text.lines().take_while(|line| line.trim() != "#[cfg(test)]" || self.is_gated(line));
        own.map(|line| if line.trim_start().starts_with("//") { "" } else { line.split(" // ").next().unwrap_or(line) })
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// `#[cfg(test)]` on a mere declaration (`mod tests;`) does not begin the tests.
    fn is_gated(&self, line: &str) -> bool {
        let at = line.as_ptr() as usize - self.text.as_ptr() as usize + line.len();
        let next = self.text[at..].trim_start().lines().next().unwrap_or_default();
        next.ends_with(';')
    }
}

/// Files and directories that `#[cfg(test)] mod name;` leaves to the tests, without their endings.
fn test_modules() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in source_dirs().iter().flat_map(|dir| files(&repository().join(dir), "rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let stem = path.file_stem().unwrap();
        let home = if stem == "mod" || stem == "lib" { path.parent().unwrap().to_owned() } else { path.with_extension("") };
        let mut gated = false;
        for line in text.lines().map(str::trim) {
            let declared = line.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ").strip_prefix("mod ");
            if let (true, Some(name)) = (gated, declared.and_then(|rest| rest.strip_suffix(';'))) {
                found.push(home.join(name));
            }
            gated = line.starts_with("#[cfg(test)]") || (gated && line.starts_with("#["));
        }
    }
    found
}

#[track_caller]
pub(crate) fn none(what: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{what}:\n{}", complaints.join("\n"));
}

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

/// An upgrade of Rhai changes one directory.
#[test]
fn internals_of_rhai_are_used_in_one_directory() {
    let mut wrong = Vec::new();
    for file in File::all("crates/script/src").iter().filter(|file| !file.path.starts_with("crates/script/src/rhai_internals/")) {
        let mut statement = String::new();
        for (number, line) in file.code() {
            statement.push_str(line.trim());
            if statement.starts_with("use ") && !statement.ends_with(';') {
                continue;
            }
            if let Some((_, named)) = statement.split_once("rhai::") {
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

#[test]
fn every_file_begins_with_a_doc_comment() {
    let missing: Vec<String> = ["tests", "benches"]
        .iter()
        .flat_map(|dir| File::all(dir))
        .chain(File::sources())
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path)
        .collect();
    none("files without a `//!` line at their head", &missing);
}

/// The map at the head of a module names existing files.
#[test]
fn the_maps_of_modules_name_existing_files() {
    let mut gone = Vec::new();
    for file in
        File::sources().iter().filter(|file| ["mod.rs", "lib.rs"].iter().any(|name| file.path.ends_with(&format!("/{name}"))))
    {
        let dir = repository().join(&file.path).parent().unwrap().to_owned();
        let head = file.text.lines().map_while(|line| line.strip_prefix("//!"));
        let mut fenced = false;
        for line in head {
            fenced ^= line.trim_start().starts_with("```");
            let Some((names, _)) = line.strip_prefix(' ').and_then(|line| line.split_once("  ")).filter(|_| fenced) else {
                continue;
            };
            let names = names.split(", ").map(|name| name.trim_end_matches(','));
            let missing = names.filter(|name| !name.is_empty() && name.chars().all(|ch| ch.is_ascii_lowercase() || ch == '_'));
            let missing = missing.filter(|name| !dir.join(name).is_dir() && !dir.join(format!("{name}.rs")).exists());
            gone.extend(missing.map(|name| format!("{}: {name}", file.path)));
        }
    }
    none("names in the maps of modules without a file", &gone);
}

/// A type name is unique in the whole tree; a module's own error, kind and arguments may use the usual names.
#[test]
fn type_names_are_unique() {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in File::sources() {
        for line in file.text.lines() {
            let words = line.trim_start_matches("pub ").trim_start();
            let words = words.split_once(") ").filter(|(seen, _)| seen.starts_with("pub(")).map_or(words, |(_, rest)| rest);
            let mut words = words.split_whitespace();
            let defines = matches!(words.next(), Some("struct" | "enum" | "trait" | "union" | "type"));
            // Indented code belongs to a function, a test or a trait.
            if let Some(name) = words.next().filter(|_| defines && !line.starts_with(' ')) {
                let name: String = name.chars().take_while(|ch| ch.is_alphanumeric() || *ch == '_').collect();
                files.entry(name).or_default().insert(file.path.clone());
            }
        }
    }
    let usual = ["Error", "Kind", "Args"];
    let repeated: Vec<String> = files
        .iter()
        .filter(|(name, files)| files.len() > 1 && !usual.contains(&name.as_str()))
        .map(|(name, files)| format!("{name}: {}", files.iter().cloned().collect::<Vec<_>>().join(", ")))
        .collect();
    none("types that share a name", &repeated);
}

#[test]
fn no_unfinished_code_is_left_and_only_ui_prints() {
    let unfinished = ["todo!(", "unimplemented!(", "dbg!("];
    let printing = ["println!(", "print!(", "eprintln!(", "eprint!("];
    let mut complaints = Vec::new();
    for file in File::sources().iter().filter(|file| !file.test) {
        for (number, line) in file.code() {
            for word in unfinished.iter().chain(&printing).filter(|word| line.contains(**word)) {
                complaints.push(format!("{}:{number}: `{word}`", file.path));
            }
        }
    }
    none("unfinished, or printing past `ui`", &complaints);
}

/// Reads of the process, and the files that make them.
const PROCESS: &[(&str, &[&str])] = &[
    ("env::var", &[ENVIRONMENT]),
    ("env::args", &[ENVIRONMENT]),
    ("env::current_dir", &[ENVIRONMENT]),
    ("env::current_exe", &[ENVIRONMENT]),
    ("io::stdin", &[ENVIRONMENT]),
    // A command has the streams of the process that becomes it, or starts it.
    ("io::stdout", &[ENVIRONMENT, "crates/adapters/src/agent/workdir/confine/mod.rs"]),
    ("io::stderr", &[ENVIRONMENT, "crates/adapters/src/agent/guard.rs", "crates/adapters/src/agent/workdir/confine/mod.rs"]),
    ("process::exit", &[ENVIRONMENT]),
    ("set_handler", &[ENVIRONMENT]),
    // The protocol's own pipes.
    ("stdio_pipes", &["src/serve/mod.rs"]),
];
const ENVIRONMENT: &str = "crates/base/src/environment.rs";

#[test]
fn the_process_is_read_in_one_place() {
    let mut complaints = Vec::new();
    for file in File::sources().iter().filter(|file| !file.test) {
        for (number, line) in file.code() {
            for (word, files) in PROCESS {
                if line.contains(word) && !files.contains(&file.path.as_str()) {
                    complaints.push(format!("{}:{number}: `{word}`: take it from the `Environment`", file.path));
                }
            }
        }
    }
    none("reads of the process", &complaints);
}

#[test]
fn main_is_one_expression() {
    let text = fs::read_to_string(repository().join("src/main.rs")).unwrap();
    let body = text.split_once('{').unwrap().1.trim().trim_end_matches('}').trim();
    assert!(!body.contains(';') && body.lines().count() == 1, "{body}");
}

/// The modules of tests that start processes, and what for. All others call the program in this process, which takes a fraction of the time.
const STARTS: &[(&str, &str)] = &[
    ("batches", "hosts that are killed while agents work"),
    ("browser", "a browser"),
    ("chaos", "servers that are killed"),
    ("cli", "a run that stands still while others look at it"),
    ("command_lines", "programs that the policy lets run"),
    ("concurrent_processes", "two processes at once"),
    ("docs", "command lines of the handbook that need a shell"),
    ("exec", "hosts that are killed, and what commands leave behind"),
    ("explain", "git"),
    ("faults", "limits of the system, and what a killed process leaves"),
    ("foreign", "agents in another language"),
    ("goal", "goals that are killed; git"),
    ("harness", "the means to start them"),
    ("http", "a run that is stopped"),
    ("kill", "kills"),
    ("lint", "git"),
    ("mcp", "the server over pipes and the network"),
    ("memory", "limits of memory"),
    ("otel", "variables that the exporter reads by itself"),
    ("output", "pipes, and users without rights"),
    ("packaging", "packages, and what is in them"),
    ("policy_gallery", "other languages"),
    ("reload", "runs that go on while texts are edited; terminals"),
    ("repl", "terminals, and a run that stands still"),
    ("report", "a run that stands still"),
    ("reportportal", "a run that is stopped"),
    ("review", "the server over pipes"),
    ("script_tests", "tests that go on while texts are edited"),
    ("security", "the umask; the server over pipes and the network"),
    ("sharing", "workers, which are processes, killed and halted"),
    ("signals", "hosts that are killed and stopped"),
    ("team_walks", "hosts that are killed while agents work"),
    ("tool_policy", "what a shell makes of commands"),
    ("tools", "a run that is stopped; a server over the network"),
    ("tour", "a terminal"),
    ("workspace", "git"),
];

#[test]
fn only_listed_test_modules_start_processes() {
    let words = r"Command::new\(|\.(command|start|process)\([^)]|Pipes::|Net::|halted(_at)?\(";
    let words = regex::Regex::new(words).unwrap();
    let starts = |file: &File| !file.path.ends_with("/tidy.rs") && words.is_match(&file.text);
    let found: BTreeSet<String> = File::all("tests/it").into_iter().filter(starts).map(|file| stem(&file.path)).collect();
    let named: BTreeSet<String> = STARTS.iter().map(|(module, _)| (*module).to_owned()).collect();
    assert_eq!(found, named, "call the program (`Project::asterisk`, `Project::call`), or document why a process is needed");
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Words that only the scripts' data may know: codes of defects and names of categories.
fn domain() -> Vec<String> {
    let project = Project::new();
    let data = project.asterisk(&["show", "data", "domain", "--format", "json"]).ok().json();
    let taxonomy = &data["domain"];
    let codes = taxonomy["defects"].as_object().unwrap();
    let aliases = codes.values().filter_map(|defect| defect["aliases"].as_array()).flatten();
    let mut words: Vec<String> = aliases.map(|alias| alias.as_str().unwrap().to_owned()).collect();
    words.extend(codes.keys().cloned());
    words.extend(taxonomy["categories"].as_object().unwrap().keys().cloned());
    // Words that the language of programs needs for itself.
    words.retain(|word| !["unknown", "timeout", "config", "crash", "environment", "assertion", "product"].contains(&&**word));
    assert!(words.len() >= 12, "{words:?}");
    words
}

#[test]
fn rust_code_does_not_contain_domain_words() {
    let words = domain();
    let mut complaints = Vec::new();
    for file in File::sources().iter().filter(|file| !file.test) {
        for (number, line) in file.code() {
            let tokens: BTreeSet<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
            for word in words.iter().filter(|word| tokens.contains(word.as_str())) {
                complaints.push(format!("{}:{number}: `{word}`", file.path));
            }
        }
    }
    none("words of the domain in Rust", &complaints);
}

/// The repository only mentions the project.
#[test]
fn no_machine_path_is_mentioned() {
    let mut complaints = Vec::new();
    let rust: Vec<File> = File::sources().into_iter().filter(|file| !file.test).collect();
    let mut dirs = vec![repository().to_owned()];
    while let Some(dir) = dirs.pop() {
        for path in fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            let below = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
            if ["target", ".git", ".asterisk", "editors/vscode/node_modules", "editors/vscode/out"].contains(&&*below) {
                continue;
            }
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let machine = ["/work/main", "/work/wt", "/work/shared", "/root/"];
            // Data next to the repository is for tests only.
            let names_it = |file: &&File| file.code().any(|(_, line)| line.contains("../shared"));
            let beside = match rust.iter().find(|file| file.path == below) {
                Some(file) => names_it(&file),
                None => !below.ends_with(".rs") && !below.starts_with("tests/") && text.contains("../shared"),
            };
            let words = machine.iter().chain(beside.then_some(&"../shared"));
            for word in words.filter(|word| text.contains(**word)) {
                if below != "tests/it/tidy.rs" {
                    complaints.push(format!("{below}: `{word}`"));
                }
            }
        }
    }
    none("paths of a machine", &complaints);
}

/// Every command has an example in its help, and the names of the files of the bundled project are what the program has.
#[test]
fn every_command_shows_an_example() {
    let project = Project::new();
    let commands = crate::cli::commands(&project);
    let commands: BTreeSet<&str> = commands.iter().map(String::as_str).filter(|name| !name.contains(' ')).collect();
    let support = [
        "calibrate_truth",
        "calibrate_view",
        "ci_advice",
        "completions",
        "goal_audit",
        "goal_dream",
        "goal_memory",
        "help",
        "junit",
        "lint_report",
        "man",
        "policy_args",
        "profile_arg",
        "run_observe",
        "mod",
        "run_screen",
        "run_view",
        "replay_sweep",
        "run_watch",
        "show_evidence",
        "show_flaky",
        "show_policy",
        "show_signatures",
        "show_symptoms",
        "show_walkers",
        "test_mutants",
        "test_view",
        "variables",
    ];
    let files = files(&repository().join("src/cli"), "rs");
    let files: BTreeSet<&str> = files.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    let files: BTreeSet<&str> = files.into_iter().filter(|name| !support.contains(name)).collect();
    assert_eq!(commands, files, "one file per command");
    for command in commands {
        let help = crate::docs::help(command);
        let examples = help.split("\nExample").nth(1).unwrap_or_else(|| panic!("{command}: no example\n{help}"));
        assert!(
            examples.contains(&format!("  asterisk {command}")) || examples.contains(&format!("| asterisk {command}")),
            "{help}"
        );
    }
}

/// What the repository holds is what the program holds, and all of it links.
#[test]
fn every_bundled_file_is_embedded_and_links() {
    use asterisk_files::{Area, FileOrigin, Overlay};
    for (area, dir, endings) in [
        (Area::Scripts, "scripts", &["rhai", "yaml"][..]),
        (Area::Tests, "scripts", &["rhai", "json"]),
        (Area::Pipelines, "pipelines", &["yaml"]),
        (Area::Templates, "templates", &["md"]),
    ] {
        let overlay = Overlay::load(area, None).unwrap();
        let embedded: BTreeSet<String> = overlay
            .files()
            .map(|(path, source, origin)| {
                assert_eq!(*origin, FileOrigin::Embedded);
                assert_eq!(source.text(), fs::read_to_string(repository().join(dir).join(path)).unwrap(), "{path}");
                path.to_owned()
            })
            .collect();
        let root = repository().join(dir);
        let there: BTreeSet<String> = endings
            .iter()
            .flat_map(|ending| files(&root, ending))
            .map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
            .filter(|path| path.ends_with("_test.rhai") == (area == Area::Tests) || path.ends_with(".json"))
            .collect();
        assert_eq!(embedded, there);
    }
    let project = Project::new();
    let listed = project.asterisk(&["show", "pipelines", "--format", "json"]).ok().json();
    for pipeline in listed["pipelines"].as_array().unwrap() {
        // Several files may have one stem.
        let name = pipeline["name"].as_str().unwrap();
        project.asterisk(&["eval", "call", "lib/text.rhai#one_line", "--args", "[\"a\", 9]", "--pipeline", name]).ok();
        assert!(project.asterisk(&["graph", name]).ok().stdout.starts_with("flowchart"));
    }
    // Every script's functions are known to `doc`.
    let doc = project.asterisk(&["doc", "--format", "json"]).ok().json();
    let known: BTreeSet<&str> =
        doc["scripts"].as_array().unwrap().iter().map(|function| function["file"].as_str().unwrap()).collect();
    let root = repository().join("scripts");
    for path in files(&root, "rhai") {
        let below = path.strip_prefix(&root).unwrap().to_str().unwrap();
        if below.ends_with("_test.rhai") {
            continue;
        }
        assert!(known.contains(below), "{below} is not among what `doc` prints");
    }
}

/// Each promise names tests that there are, and each section of the table has some.
#[test]
fn every_promise_has_its_test() {
    let table = fs::read_to_string(repository().join("docs/promises.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise |"));
    let mut missing = Vec::new();
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [promise, tests] = cells[..] else { panic!("two cells: {row}") };
        let named: Vec<&str> = tests.split(", ").map(|test| test.trim_matches('`')).collect();
        count += 1;
        missing.extend(named.iter().filter(|test| !is_test(test)).map(|test| format!("{promise}: test `{test}` does not exist")));
    }
    none("promises without a test", &missing);
    assert!(count > 50, "{count} promises");
}

/// Whether a path such as `run::a_run_leaves_its_files` is that of a test.
fn is_test(path: &str) -> bool {
    let Some((module, name)) = path.rsplit_once("::") else { return false };
    let below = module.replace("::", "/");
    let first = module.split("::").next().unwrap_or_default();
    let rest = below.strip_prefix(first).unwrap_or_default().trim_start_matches('/');
    let mut homes: Vec<PathBuf> = vec![format!("tests/it/{first}.rs").into()];
    // A module of the front, of a crate of several modules, or the crate itself.
    for (dir, below) in [
        ("src".to_owned(), below.as_str()),
        ("crates/base/src".to_owned(), &below),
        ("crates/adapters/src".to_owned(), &below),
        (format!("crates/{}/src", first.replace('_', "-")), rest),
    ] {
        if below.is_empty() {
            homes.extend(["lib.rs", "tests.rs", "tests/mod.rs"].map(|file| format!("{dir}/{file}").into()));
            continue;
        }
        homes.extend([".rs", "/mod.rs", "/tests.rs", "/tests/mod.rs"].map(|end| format!("{dir}/{below}{end}").into()));
        // `launch::refusals` is in `tests/refusals.rs`.
        let (home, part) = below.rsplit_once('/').map_or(("", below), |(home, part)| (home, part));
        homes.push(format!("{dir}/{home}/tests/{part}.rs").into());
    }
    if module == "fuzz" {
        homes.extend(["main.rs", "listed.rs"].map(|file| format!("tests/fuzz/{file}").into()));
    }
    let has = |home: PathBuf| {
        let text = fs::read_to_string(repository().join(home)).unwrap_or_default();
        text.find(&format!("fn {name}(")).is_some_and(|at| text[..at].rsplit("\n\n").next().unwrap_or_default().contains("test]"))
    };
    homes.into_iter().any(has)
}
