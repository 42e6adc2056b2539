//! The README and the pages of `docs/` are executed, each from top to bottom in a separate project directory, at a fixed time:
//!
//! - A block tagged with a language and `file=PATH` (`rhai`, `yaml`, `json`, ...) is written to that file.
//! - A block tagged `console` holds commands and what they print. A line that begins with `$ ` is a command, run by `sh`
//!   with the built program as `asterisk`; `cargo run --` is equivalent. The lines up to the next command are its
//!   standard output, then its standard error, then `[exit N]` if N is not 0. They must match, except for spaces at the
//!   ends of lines, except that
//!   - the project's directory is written `[DIR]`,
//!   - a line `...` matches any number of lines, including none,
//!   - `...` at the end of a line matches the rest of it.
//! - The repository's `examples` are where they are in a clone.
//! - `sh` blocks hold what a reader does in a clone. Their commands must be `cargo run -- ...`, which is executed and
//!   must succeed, or `cargo test`, which is being executed.
//! - Any other block is shown and nothing more.

use crate::harness::{Project, Ran, repository};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// When the documents happen.
const CLOCK: &str = "2026-03-02T09:00:00Z";

/// A fenced block.
struct Block<'a> {
    tag: &'a str,
    /// The line of its first line, from 1.
    line: usize,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(tag) if !open => {
                found.push(Block { tag: tag.trim(), line: index + 2, lines: Vec::new() });
                open = true;
            }
            Some(_) => open = false,
            None if open => found.last_mut().unwrap().lines.push(line),
            None => {}
        }
    }
    assert!(!open, "a block is not closed");
    found
}

/// A command of a console block, with its expected output.
struct Shown<'a> {
    command: &'a str,
    line: usize,
    expected: Vec<&'a str>,
}

fn commands<'a>(block: &Block<'a>) -> Vec<Shown<'a>> {
    let mut found: Vec<Shown<'a>> = Vec::new();
    for (index, line) in block.lines.iter().enumerate() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push(Shown { command, line: block.line + index, expected: Vec::new() }),
            (None, Some(shown)) => shown.expected.push(line),
            (None, None) => panic!("line {}: a console block begins with a command", block.line),
        }
    }
    found
}

/// Runs a command line by the shell, the built program in its path; one that needs neither a shell nor separate streams (as `serve` does) is
/// called.
pub(crate) fn shell(project: &Project, line: &str) -> Ran {
    let line = line.replace("cargo run --", "asterisk");
    let bin = Path::new(env!("CARGO_BIN_EXE_asterisk")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let plain = line.strip_prefix("asterisk ").filter(|words| !words.contains(|ch| "|&;<>()$`\\\"'*?[]#~{}".contains(ch)));
    if let Some(words) = plain.filter(|words| !words.starts_with("serve")) {
        let words: Vec<&str> = words.split_whitespace().collect();
        return project.call(&words).env("ASTERISK_CLOCK", CLOCK).env("PATH", path).ran();
    }
    let mut command = project.command(&[""; 0]);
    let mut sh = Command::new("sh");
    sh.args(["-c", &line]).current_dir(project.root()).env_clear();
    sh.envs(command.env("ASTERISK_CLOCK", CLOCK).get_envs().filter_map(|(name, value)| Some((name, value?))));
    sh.env("PATH", path);
    project.ran(&sh.output().unwrap())
}

/// What a reader sees.
fn seen(ran: &Ran) -> Vec<String> {
    let mut lines: Vec<String> = ran.stdout.lines().chain(ran.stderr.lines()).map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if ran.code != Some(0) {
        lines.push(format!("[exit {}]", ran.code.map_or("by a signal".to_owned(), |code| code.to_string())));
    }
    lines
}

/// Whether the lines are the expected ones, `...` standing for any.
fn fits(expected: &[&str], found: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return found.is_empty() };
    if first.trim() == "..." {
        return (0..=found.len()).any(|skipped| fits(rest, &found[skipped..]));
    }
    let Some((line, others)) = found.split_first() else { return false };
    let first = first.trim_end();
    let same = first.strip_suffix("...").map_or(first == line, |start| line.starts_with(start.trim_end()));
    same && fits(rest, others)
}

#[test]
fn dots_match_any_output() {
    let found = ["a", "b  c", "d"].map(str::to_owned);
    for (expected, good) in [
        (&["a", "b  c", "d"][..], true),
        (&["...", "d"], true),
        (&["a", "...", "b  c", "...", "d", "..."], true),
        (&["a", "b ...", "d"], true),
        (&["a", "d"], false),
        (&["a", "...", "c"], false),
        (&["a", "b  c", "d", "e"], false),
    ] {
        assert_eq!(fits(expected, &found), good, "{expected:?}");
    }
}

/// The README and the pages of the handbook.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(repository().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .chain([repository().join("README.md")])
        .collect();
    found.sort();
    found
}

/// Executes a document; returns how many commands ran, and what differs.
fn execute(document: &Path) -> (usize, Vec<String>) {
    let name = document.strip_prefix(repository()).unwrap().display();
    let text = std::fs::read_to_string(document).unwrap();
    let project = Project::new();
    for dir in ["examples/series", "examples/court"] {
        for example in std::fs::read_dir(repository().join(dir)).unwrap() {
            let example = example.unwrap();
            let text = std::fs::read_to_string(example.path()).unwrap();
            project.file(&format!("{dir}/{}", example.file_name().display()), text);
        }
    }
    let (mut executed, mut complaints) = (0, Vec::new());
    for block in blocks(&text) {
        if let Some((_, path)) = block.tag.split_once(" file=") {
            project.file(path, block.lines.join("\n") + "\n");
        } else if block.tag == "console" {
            for shown in commands(&block) {
                executed += 1;
                let ran = shell(&project, shown.command);
                let found = seen(&ran);
                let mut expected = shown.expected.clone();
                while expected.last().is_some_and(|line| line.trim().is_empty()) {
                    expected.pop();
                }
                if !fits(&expected, &found) {
                    let (line, command) = (shown.line, shown.command);
                    complaints.push(format!("{name}:{line}: `{command}` prints\n{}\n", found.join("\n")));
                }
            }
        } else if block.tag == "sh" {
            for (index, line) in block.lines.iter().enumerate() {
                let command = line.split(" #").next().unwrap().trim();
                if command.starts_with("cargo run -- ") {
                    executed += 1;
                    // In a separate directory, as in a fresh clone.
                    let ran = shell(&Project::new(), command);
                    if ran.code != Some(0) {
                        complaints.push(format!("{name}:{}: `{command}` fails\n{}", block.line + index, ran.text()));
                    }
                } else if !command.is_empty() && command != "cargo test" {
                    complaints.push(format!("{name}:{}: `{command}` is not executed by any test", block.line + index));
                }
            }
        }
    }
    (executed, complaints)
}

#[track_caller]
fn is_true(page: &str) {
    let (executed, complaints) = execute(&repository().join(page));
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), complaints.join("\n"));
    assert!(executed >= 2, "{page} shows nothing");
}

#[test]
fn readme_is_true() {
    is_true("README.md");
}

#[test]
fn agents_is_true() {
    is_true("docs/agents.md");
}

#[test]
fn calibrating_is_true() {
    is_true("docs/calibrating.md");
}

#[test]
fn changing_rules_is_true() {
    is_true("docs/changing-rules.md");
}

#[test]
fn ci_is_true() {
    is_true("docs/ci.md");
}

#[test]
fn court_is_true() {
    is_true("docs/court.md");
}

#[test]
fn domains_is_true() {
    is_true("docs/domains.md");
}

#[test]
fn gallery_is_true() {
    is_true("docs/gallery.md");
}

#[test]
fn goal_loop_is_true() {
    is_true("docs/goal-loop.md");
}

#[test]
fn goal_scripts_is_true() {
    is_true("docs/goal-scripts.md");
}

#[test]
fn installing_is_true() {
    is_true("docs/installing.md");
}

#[test]
fn operating_is_true() {
    is_true("docs/operating.md");
}

#[test]
fn policy_pipelines_is_true() {
    is_true("docs/policy-pipelines.md");
}

#[test]
fn reading_a_report_is_true() {
    is_true("docs/reading-a-report.md");
}

#[test]
fn rules_and_decisions_is_true() {
    is_true("docs/rules-and-decisions.md");
}

#[test]
fn sharing_is_true() {
    is_true("docs/sharing.md");
}

#[test]
fn teams_and_branches_is_true() {
    is_true("docs/teams-and-branches.md");
}

/// Every page that shows a command has its test above, by its name.
#[test]
fn every_page_of_the_handbook_is_executed() {
    let tests = std::fs::read_to_string(repository().join("tests/it/docs.rs")).unwrap();
    for page in documents() {
        let text = std::fs::read_to_string(&page).unwrap();
        let shows = |block: &Block<'_>| block.tag == "console" || (block.tag == "sh" && !block.lines.is_empty());
        let name = page.file_stem().unwrap().to_str().unwrap().to_lowercase().replace('-', "_");
        let has_test = tests.contains(&format!("fn {name}_is_true()"));
        assert_eq!(blocks(&text).iter().any(shows), has_test, "{}", page.display());
    }
}

/// Short enough to be read: more belongs into a separate page.
#[test]
fn first_pages_are_short() {
    for (page, most) in [("README.md", 250), ("ARCHITECTURE.md", 160)] {
        let lines = std::fs::read_to_string(repository().join(page)).unwrap().lines().count();
        assert!(lines <= most, "{page} has {lines} lines, and should have {most} at most");
    }
}

/// Every page is in the table of contents, and every link leads to an existing file.
#[test]
fn links_resolve() {
    let summary = std::fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    let mut broken = String::new();
    let decisions = std::fs::read_dir(repository().join("docs/decisions")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| repository().join(name));
    for document in documents().into_iter().chain(others).chain(decisions) {
        let name = document.file_name().unwrap().to_str().unwrap();
        let in_book = document.parent().unwrap().ends_with("docs");
        if in_book && !["SUMMARY.md", "internals.md"].contains(&name) && !summary.contains(&format!("({name})")) {
            let _ = writeln!(broken, "{name} is not in SUMMARY.md");
        }
        let text = std::fs::read_to_string(&document).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") && !document.parent().unwrap().join(file).exists() {
                let _ = writeln!(broken, "{name}: {target} leads nowhere");
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

/// The table "Where is ..." names existing files and functions.
#[test]
fn the_architecture_map_names_existing_files() {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let table = text.split("## Where is ...").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 40, "{} rows", rows.len());
    for row in rows {
        let place = row.split('|').nth(2).unwrap();
        let quoted: Vec<&str> = place.split('`').skip(1).step_by(2).collect();
        let files: Vec<&&str> = quoted.iter().filter(|part| part.contains('/')).collect();
        assert!(!files.is_empty(), "no file: {row}");
        let texts: Vec<String> = files
            .iter()
            .map(|file| std::fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}: {row}")))
            .collect();
        for name in quoted.iter().filter(|part| part.chars().all(|c| c.is_alphanumeric() || c == '_')) {
            assert!(texts.iter().any(|text| text.contains(*name)), "{name} is in none of {files:?}");
        }
    }
}

/// The help of a command, as the reference has it ([`the_reference_is_generated`]).
pub(crate) fn help(command: &str) -> String {
    let text = std::fs::read_to_string(repository().join("docs/commands.md")).unwrap();
    let (_, rest) =
        text.split_once(&format!("\n## `{command}`\n\n```text\n")).unwrap_or_else(|| panic!("no `{command}` in commands.md"));
    rest.split("\n```").next().unwrap().to_owned()
}

/// Pages that are generated are as they would be generated now; `INSTA_UPDATE=always` writes them.
#[test]
fn the_reference_is_generated() {
    let project = Project::new();
    let shown = |args: &[&str]| {
        let ran = project.call(args).env("COLUMNS", "100").ran().ok();
        ran.stdout.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    };
    let (mut commands, mut global) = (String::new(), String::new());
    for name in crate::cli::commands(&project) {
        let help = shown(&name.split(' ').chain(["--help"]).collect::<Vec<_>>());
        // Every command has the global options; the page has them once.
        let (own, rest) = help.split_once("\n\nGlobal options:\n").unwrap();
        let last = "(-vv: every event)";
        let (options, after) = rest.split_once(last).unwrap();
        global = format!("{options}{last}");
        let _ = write!(commands, "\n## `{name}`\n\n```text\n{own}{after}\n```\n");
    }
    let commands = format!("\n## Global options\n\n```text\n{global}\n```\n{commands}");
    let mut api = String::new();
    for group in shown(&["doc"]).split("\n# ") {
        let (title, functions) = group.split_once('\n').unwrap();
        let _ = write!(api, "\n## {}\n\n```text\n{}\n```\n", title.trim_start_matches("# "), functions.trim());
    }
    let keys = asterisk::config::reference();
    for (page, generated) in [("docs/commands.md", commands), ("docs/script-api.md", api), ("docs/configuration.md", keys)] {
        let path = repository().join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, found) = text.split_once("<!-- generated -->\n").unwrap_or_else(|| panic!("{page} lacks the mark"));
        if found != generated && std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            std::fs::write(&path, format!("{head}<!-- generated -->\n{generated}")).unwrap();
        } else {
            assert!(found == generated, "{page} is not what the program says; INSTA_UPDATE=always writes it anew");
        }
    }
}
