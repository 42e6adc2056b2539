//! The README is executed. From top to bottom, in one project directory, at one fixed time:
//!
//! - A block tagged with a language and `file=PATH` (`rhai`, `yaml`, `json`, ...) is written to that file.
//! - A block tagged `console` holds commands and what they print. A line that begins with `$ ` is a command, run by `sh`
//!   with the built program as `asterisk`; `cargo run --release --` (and `cargo run --`) stand for it too. The lines up to
//!   the next command are its standard output, then its standard error, then `[exit N]` if N is not 0. They must be the
//!   same, but for spaces at the ends of lines, except that
//!   - the project's directory is written `[DIR]`,
//!   - a line `...` stands for any number of lines, none included,
//!   - `...` at the end of a line stands for the rest of it.
//! - The repository's `examples` are where they are in a clone.
//! - `sh` blocks hold what a reader does in a clone. Their commands must be `cargo run --release -- ...`, which is executed
//!   and must succeed, or `cargo test`, which is being executed.
//! - Any other block is shown and nothing more.

use crate::harness::{Project, Ran, repository};
use std::path::Path;
use std::process::Command;

/// When the README happens.
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

/// A command of a console block, with what it should print.
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

/// Runs a command line by the shell, the built program in its path.
pub(crate) fn shell(project: &Project, line: &str) -> Ran {
    let line = line.replace("cargo run --release --", "asterisk").replace("cargo run --", "asterisk");
    let bin = Path::new(env!("CARGO_BIN_EXE_asterisk")).parent().unwrap();
    let mut command = project.command(&[""; 0]);
    let mut sh = Command::new("sh");
    sh.args(["-c", &line]).current_dir(project.root()).env_clear();
    sh.envs(command.env("ASTERISK_CLOCK", CLOCK).get_envs().filter_map(|(name, value)| Some((name, value?))));
    sh.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
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
fn dots_stand_for_anything() {
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

#[test]
fn the_readme_is_true() {
    let Ok(text) = std::fs::read_to_string(repository().join("README.md")) else { panic!("there is no README.md") };
    let project = Project::new();
    for dir in ["examples/series", "examples/court"] {
        for example in std::fs::read_dir(repository().join(dir)).unwrap() {
            let example = example.unwrap();
            let text = std::fs::read_to_string(example.path()).unwrap();
            project.file(&format!("{dir}/{}", example.file_name().display()), text);
        }
    }
    let mut complaints = Vec::new();
    let mut executed = 0;
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
                    complaints.push(format!("README.md:{line}: `{command}` prints\n{}\n", found.join("\n")));
                }
            }
        } else if block.tag == "sh" {
            for (index, line) in block.lines.iter().enumerate() {
                let command = line.split(" #").next().unwrap().trim();
                if command.starts_with("cargo run --release -- ") {
                    executed += 1;
                    // In a directory of its own, as in a fresh clone.
                    let ran = shell(&Project::new(), command);
                    if ran.code != Some(0) {
                        complaints.push(format!("README.md:{}: `{command}` fails\n{}", block.line + index, ran.text()));
                    }
                } else if !command.is_empty() && command != "cargo test" {
                    complaints.push(format!("README.md:{}: `{command}` is not executed by any test", block.line + index));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), complaints.join("\n"));
    assert!(executed >= 2, "the README shows nothing");
}
