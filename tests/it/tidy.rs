//! The order of the house: layers, heads of files, who prints, and no word of the domain in Rust.

use crate::harness::{Project, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of `src/`, lowest first (`ARCHITECTURE.md`). A module imports from lower layers and its own children; those of
/// one layer never import each other.
const LAYERS: &[&[&str]] = &[
    &["diag", "model", "clock", "memory", "environment"],
    &["form"],
    &["pipeline", "script", "prompt", "evidence"],
    &["walk"],
    &["project"],
    &["net", "store", "agent", "audit", "ingest", "files", "workspace", "reportportal"],
    &["session", "reload"],
    &["lint", "observe", "script_tests", "decisions", "report", "calibrate", "learn"],
    &["ui", "exit", "config", "cli", "repl", "serve"],
];

/// Imports within a layer that are right as they are: launches have times and shapes have near misses; pages of a calibration are
/// rendered as reports are; commands go by everything of the front.
const ALSO: &[(&str, &str)] = &[
    ("model", "clock"),
    ("model", "diag"),
    ("agent", "net"),
    ("reportportal", "net"),
    ("calibrate", "report"),
    ("cli", "ui"),
    ("cli", "exit"),
    ("cli", "config"),
    ("cli", "repl"),
    ("cli", "serve"),
    ("repl", "ui"),
    ("repl", "exit"),
    ("serve", "ui"),
];

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
    /// The module of `src` that it belongs to (`lib` and `main` have no layer).
    pub(crate) module: String,
    text: String,
    /// Whether it is compiled for tests only.
    pub(crate) test: bool,
}

impl File {
    pub(crate) fn all(dir: &str) -> Vec<Self> {
        let tests = test_modules();
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            let below = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
            let first = below.split('/').nth(1).unwrap_or_default();
            let module = first.strip_suffix(".rs").unwrap_or(first).to_owned();
            let test = tests.iter().any(|module| path.starts_with(module) || path.with_extension("") == *module);
            Self { path: below, module, text, test }
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
    for path in files(&repository().join("src"), "rs") {
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

/// The modules of the crate that a line of code names.
fn named(line: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("crate::") {
        rest = after;
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let word = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        if let Some(list) = after.strip_prefix('{') {
            // `use crate::{a, b::C};` names one module an item; nested braces hold no modules.
            let mut depth = 0_i32;
            let mut start = true;
            for (at, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && c.is_alphabetic() => {
                        found.insert(&list[at..at + word(&list[at..])]);
                        start = false;
                    }
                    _ => {}
                }
                if depth < 0 {
                    break;
                }
            }
        } else {
            found.insert(&after[..word(after)]);
        }
    }
    found
}

#[test]
fn modules_named_in_a_line_are_found() {
    let names = |line: &str| named(line).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(names("use crate::diag::{Source, Span};"), "diag");
    assert_eq!(names("use crate::{model::{A, B}, walk};"), "model walk");
    assert_eq!(names("    fn f(x: crate::walk::Status, y: &crate::model::Kind) {}"), "model walk");
    assert_eq!(names("use super::x; pub(crate) fn g() {}"), "");
}

#[test]
fn modules_import_lower_layers_only() {
    let layer = |module: &str| LAYERS.iter().position(|layer| layer.contains(&module));
    let mut complaints = Vec::new();
    for file in File::all("src").iter().filter(|file| !["lib", "main"].contains(&&*file.module)) {
        let Some(own) = layer(&file.module) else {
            complaints.push(format!("{}: `{}` has no layer; give it one in this table", file.path, file.module));
            continue;
        };
        // `use` may go over several lines: join up to the semicolon.
        let mut statement = String::new();
        for (number, line) in file.code() {
            statement.push_str(line.trim());
            if statement.starts_with("use ") && !statement.ends_with(';') {
                continue;
            }
            for other in named(&statement).into_iter().filter(|other| **other != *file.module) {
                let right = layer(other).is_some_and(|other| other < own) || ALSO.contains(&(&file.module, other));
                if !right && !file.test {
                    complaints.push(format!("{}:{number}: `{}` imports `{other}`", file.path, file.module));
                }
            }
            statement.clear();
        }
    }
    none("imports against the layers", &complaints);
}

#[test]
fn every_file_begins_with_what_it_is() {
    let missing: Vec<String> = ["src", "tests", "benches"]
        .iter()
        .flat_map(|dir| File::all(dir))
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path)
        .collect();
    none("files without a `//!` line at their head", &missing);
}

/// The map at the head of a module names files that are there.
#[test]
fn the_maps_of_modules_name_what_is_there() {
    let mut gone = Vec::new();
    for file in File::all("src").iter().filter(|file| file.path.ends_with("/mod.rs")) {
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

/// A type name means one thing in the whole tree; a module's own error, kind and arguments may go by the usual names.
#[test]
fn a_type_name_means_one_thing() {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in File::all("src") {
        for line in file.text.lines() {
            let words = line.trim_start_matches("pub ").trim_start();
            let words = words.split_once(") ").filter(|(seen, _)| seen.starts_with("pub(")).map_or(words, |(_, rest)| rest);
            let mut words = words.split_whitespace();
            let defines = matches!(words.next(), Some("struct" | "enum" | "trait" | "union" | "type"));
            // What is indented is of a function, a test or a trait.
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
fn nothing_is_left_unfinished_and_only_ui_prints() {
    let unfinished = ["todo!(", "unimplemented!(", "dbg!("];
    let printing = ["println!(", "print!(", "eprintln!(", "eprint!("];
    let mut complaints = Vec::new();
    for file in File::all("src").iter().filter(|file| !file.test) {
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
    ("io::stdout", &[ENVIRONMENT, "src/agent/workdir/confine/mod.rs"]),
    ("io::stderr", &[ENVIRONMENT, "src/agent/guard.rs", "src/agent/workdir/confine/mod.rs"]),
    ("process::exit", &[ENVIRONMENT]),
    ("set_handler", &[ENVIRONMENT]),
    // The protocol's own pipes.
    ("stdio_pipes", &["src/serve/mod.rs"]),
];
const ENVIRONMENT: &str = "src/environment.rs";

#[test]
fn the_process_is_read_in_one_place() {
    let mut complaints = Vec::new();
    for file in File::all("src").iter().filter(|file| !file.test) {
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
    ("signals", "hosts that are killed and stopped"),
    ("team_walks", "hosts that are killed while agents work"),
    ("tool_policy", "what a shell makes of commands"),
    ("tools", "a run that is stopped; a server over the network"),
    ("tour", "a terminal"),
    ("workspace", "git"),
];

#[test]
fn processes_are_started_where_it_is_about_them() {
    let words = r"Command::new\(|\.(command|start|process)\([^)]|Pipes::|Net::|halted(_at)?\(";
    let words = regex::Regex::new(words).unwrap();
    let starts = |file: &File| !file.path.ends_with("/tidy.rs") && words.is_match(&file.text);
    let found: BTreeSet<String> = File::all("tests/it").into_iter().filter(starts).map(|file| stem(&file.path)).collect();
    let named: BTreeSet<String> = STARTS.iter().map(|(module, _)| (*module).to_owned()).collect();
    assert_eq!(found, named, "call the program (`Project::asterisk`, `Project::call`), or say why there must be a process");
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
fn rust_knows_no_word_of_the_domain() {
    let words = domain();
    let mut complaints = Vec::new();
    for file in File::all("src").iter().filter(|file| !file.test) {
        for (number, line) in file.code() {
            let tokens: BTreeSet<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
            for word in words.iter().filter(|word| tokens.contains(word.as_str())) {
                complaints.push(format!("{}:{number}: `{word}`", file.path));
            }
        }
    }
    none("words of the domain in Rust", &complaints);
}

/// The repository speaks of the project alone.
#[test]
fn no_path_of_a_machine_is_mentioned() {
    let mut complaints = Vec::new();
    let rust: Vec<File> = File::all("src").into_iter().filter(|file| !file.test).collect();
    let mut dirs = vec![repository().to_owned()];
    while let Some(dir) = dirs.pop() {
        for path in fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            let below = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
            if ["target", ".git", ".asterisk"].contains(&&*below) {
                continue;
            }
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let machine = ["/work/main", "/work/wt", "/work/shared", "/root/"];
            // Data beside the repository is for tests alone.
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
    let commands: BTreeSet<&str> = commands.iter().map(String::as_str).collect();
    let support = [
        "calibrate_view",
        "ci_advice",
        "command_groups",
        "junit",
        "lint_report",
        "policy_args",
        "run_observe",
        "mod",
        "run_table",
        "run_view",
        "run_watch",
        "show_evidence",
        "show_flaky",
        "show_knowledge",
        "show_policy",
        "show_signatures",
        "show_walkers",
        "test_mutants",
        "test_view",
        "variables",
    ];
    let files = files(&repository().join("src/cli"), "rs");
    let files: BTreeSet<&str> = files.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    let files: BTreeSet<&str> = files.into_iter().filter(|name| !support.contains(name)).collect();
    assert_eq!(commands, files, "a file a command");
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
    use asterisk::files::{Area, FileOrigin, Overlay};
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
        project.asterisk(&["call", "lib/text.rhai#one_line", "--args", "[\"a\", 9]", "--pipeline", name]).ok();
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
        missing.extend(named.iter().filter(|test| !is_test(test)).map(|test| format!("{promise}: there is no test `{test}`")));
    }
    none("promises without a test", &missing);
    assert!(count > 50, "{count} promises");
}

/// Whether a path such as `run::a_run_leaves_its_files` is that of a test.
fn is_test(path: &str) -> bool {
    let Some((module, name)) = path.rsplit_once("::") else { return false };
    let below = module.replace("::", "/");
    let first = module.split("::").next().unwrap_or_default();
    let mut homes: Vec<PathBuf> = vec![format!("tests/it/{first}.rs").into(), format!("src/{below}.rs").into()];
    // `ingest::refusals` is in `src/ingest/tests/refusals.rs`.
    if let Some((home, part)) = below.rsplit_once('/') {
        homes.push(format!("src/{home}/tests/{part}.rs").into());
    }
    homes.extend(["mod.rs", "tests.rs", "tests/mod.rs"].map(|file| format!("src/{below}/{file}").into()));
    if module == "fuzz" {
        homes.extend(["main.rs", "listed.rs"].map(|file| format!("tests/fuzz/{file}").into()));
    }
    let has = |home: PathBuf| {
        let text = fs::read_to_string(repository().join(home)).unwrap_or_default();
        text.find(&format!("fn {name}("))
            .is_some_and(|at| text[..at].rsplit("\n\n").next().unwrap_or_default().contains("#[test]"))
    };
    homes.into_iter().any(has)
}
