//! Command lines that are run without a shell: where each command of one runs, and the files that its patterns stand for.

use super::paths::WorkRoot;
use super::search;
use asterisk_base::model::{CommandErrors, CommandJoin, SimpleCommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Instant;

/// More files are not put in the place of a pattern.
const MAX_MATCHES: usize = 10_000;
/// What changes the directory of the commands behind it.
const MOVES: &str = "cd";

/// A command that is ready to be started.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlainCommand {
    pub(super) join: CommandJoin,
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    pub(super) dir: PathBuf,
    pub(super) input: Option<PathBuf>,
    pub(super) silent: bool,
    pub(super) errors: CommandErrors,
}

/// The commands of a line that run a program, each with the directory that it runs in: those that only change the directory take effect
/// here. An error says why a directory is not known before anything has run.
pub(super) fn placed<'c>(root: &WorkRoot, commands: &'c [SimpleCommand]) -> Result<Vec<(PathBuf, &'c SimpleCommand)>, String> {
    let mut dir = root.path.clone();
    let mut placed: Vec<(PathBuf, &SimpleCommand)> = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        if command.words.first().is_none_or(|program| program.text != MOVES) {
            placed.push((dir.clone(), command));
            continue;
        }
        let next = commands.get(at + 1).map_or(CommandJoin::Then, |next| next.join);
        let certain = placed.is_empty() || command.join == CommandJoin::Then;
        let [_, target] = command.words.as_slice() else { return Err(format!("`{MOVES}` names no directory")) };
        if !certain || !matches!(next, CommandJoin::Then | CommandJoin::And) || command.input.is_some() || target.pattern {
            return Err(format!("whether `{MOVES}` changes the directory is only known when it runs"));
        }
        let below = dir.join(&target.text);
        let inside = below.to_str().is_some_and(|below| root.is_inside(below));
        if !inside {
            return Err(format!("`{MOVES} {}` leads out of the working directory, or over a link", target.text));
        }
        if !below.is_dir() {
            return Err(format!("`{MOVES} {}`: no such directory", target.text));
        }
        // Without `.` and repeated slashes.
        dir = below.components().collect();
    }
    Ok(placed)
}

/// Puts files in the place of patterns; fails at `until`.
pub(super) fn resolved(root: &WorkRoot, commands: &[SimpleCommand], until: Instant) -> Result<Vec<PlainCommand>, String> {
    let resolve = |(dir, command): (PathBuf, &SimpleCommand)| {
        let mut argv = Vec::new();
        for word in &command.words {
            if !word.pattern {
                argv.push(word.text.clone());
                continue;
            }
            let found = search::matching(root, &dir, &word.text, until).map_err(|error| error.text().to_owned())?;
            if found.is_empty() {
                return Err(format!("no file matches `{}`", word.text));
            }
            argv.extend(found);
            if argv.len() > MAX_MATCHES {
                return Err(format!("`{}` stands for more than {MAX_MATCHES} files", word.text));
            }
        }
        let input = command.input.as_ref().map(|file| dir.join(file));
        let SimpleCommand { join, silent, errors, .. } = *command;
        Ok(PlainCommand { join, argv, dir, input, silent, errors })
    };
    placed(root, commands)?.into_iter().map(resolve).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::paths::Guarded;
    use super::*;
    use asterisk_base::model::read_command_line;

    #[test]
    fn commands_run_where_they_are_said_to_and_patterns_are_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join("d/e")).unwrap();
        std::fs::write(path.join("d/f.t"), "").unwrap();
        std::os::unix::fs::symlink("/etc", path.join("up")).unwrap();
        let root = WorkRoot { path: path.clone(), guarded: Guarded::default() };
        let run =
            |text: &str| resolved(&root, &read_command_line(text).unwrap(), Instant::now() + std::time::Duration::from_secs(60));
        let made = run("cd d && cd ./e; ls; cd ..; ls").unwrap_err();
        assert!(made.contains("leads out"), "{made}");
        let made = run("ls; cd d && cat *.t < f.t | wc").unwrap();
        let shown: Vec<_> =
            made.iter().map(|one| (one.argv.join(" "), one.dir.strip_prefix(&path).unwrap().display().to_string())).collect();
        let wanted = [("ls", ""), ("cat f.t", "d"), ("wc", "d")].map(|(argv, dir)| (argv.to_owned(), dir.to_owned()));
        assert_eq!(shown, wanted);
        assert_eq!(made[1].input, Some(path.join("d/f.t")));
        for text in
            ["cd up; ls", "cd none; ls", "true || cd d; ls", "cd d || ls", "cd; ls", "cd *; ls", "ls | cd d; ls", "ls *.none"]
        {
            assert!(run(text).is_err(), "{text}");
        }
    }
}
