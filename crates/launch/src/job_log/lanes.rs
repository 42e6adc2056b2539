//! Output of several tasks at once: runners of monorepos and Jenkins put the name of the task before each line.
//!
//! | runner | line |
//! |---|---|
//! | Turborepo | `@acme/cart:test: text` |
//! | Lerna, Nx | `@acme/cart: text` |
//! | pnpm | `packages/cart test: text` |
//! | Jenkins, parallel branches | `[unit] text` |
//!
//! A prefix counts only after the runner has said that it runs: `src/cart.c: text` is not the line of a task.

use super::scan::{Scanned, Scanner};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of tasks that are read separately.
const MAX_LANES: usize = 1000;

/// A runner of several tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskRunner {
    Turborepo,
    /// Lerna and Nx.
    Lerna,
    Pnpm,
}

/// The tasks of a step, each with what it printed.
#[derive(Default)]
pub(super) struct TaskLanes {
    runner: Option<TaskRunner>,
    /// The branches that Jenkins has begun.
    branches: BTreeSet<String>,
    lanes: BTreeMap<String, Scanner>,
}

impl TaskLanes {
    /// Adds a parallel branch of Jenkins.
    pub(super) fn add_branch(&mut self, name: &str) {
        if self.branches.len() < MAX_LANES {
            self.branches.insert(name.to_owned());
        }
    }

    /// Reads a line if it is that of a task.
    pub(super) fn line(&mut self, number: usize, text: &str, is_usual: bool) -> bool {
        if let Some(runner) = runner_of(text) {
            self.runner = Some(runner);
            return false;
        }
        let Some((task, text)) = self.split(text) else { return false };
        if !self.lanes.contains_key(task) {
            if self.lanes.len() == MAX_LANES {
                return false;
            }
            self.lanes.insert(task.to_owned(), Scanner::default());
        }
        if let Some(scanner) = self.lanes.get_mut(task) {
            scanner.line(number, text, is_usual);
        }
        true
    }

    /// Splits off the name of a task.
    fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        if let Some((branch, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']'))
            && self.branches.contains(branch)
        {
            return Some((branch, rest.strip_prefix(' ').unwrap_or(rest)));
        }
        let runner = self.runner?;
        // The command of a task: `packages/cart test$ jest`.
        if runner == TaskRunner::Pnpm
            && let Some((task, rest)) = text.split_once("$ ")
            && task.split(' ').count() == 2
        {
            return Some((task, rest));
        }
        let (task, rest) = text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?;
        let is_task = match runner {
            TaskRunner::Turborepo => {
                let parts = task.split_once(':');
                parts
                    .is_some_and(|(package, script)| !package.is_empty() && script.starts_with(|c: char| c.is_ascii_alphabetic()))
                    && !task.contains(char::is_whitespace)
            }
            // npm prints the command before anything else.
            TaskRunner::Lerna => {
                self.lanes.contains_key(task)
                    || !task.contains(char::is_whitespace) && ["> ", "$ "].iter().any(|mark| rest.starts_with(mark))
            }
            TaskRunner::Pnpm => self.lanes.contains_key(task),
        };
        is_task.then_some((task, rest))
    }

    /// Adds the failures of the tasks to those of their step.
    pub(super) fn finish(&mut self, into: &mut Scanned) {
        self.runner = None;
        if self.lanes.is_empty() {
            return;
        }
        for (task, scanner) in std::mem::take(&mut self.lanes) {
            let mut scanned = scanner.finish();
            for finding in &mut scanned.findings {
                finding.task.clone_from(&task);
            }
            into.findings.append(&mut scanned.findings);
            into.more += scanned.more;
            if let Some(declared) = scanned.declared {
                into.declared = Some(into.declared.unwrap_or(0) + declared);
            }
        }
        into.findings.sort_by_key(|finding| finding.at);
    }
}

/// Whether a line is that of a runner of tasks.
pub(super) fn is_of_runner(text: &str) -> bool {
    runner_of(text).is_some()
}

/// The runner that a line shows.
fn runner_of(text: &str) -> Option<TaskRunner> {
    let text = text.trim_start();
    let begins = |marks: &[&str]| marks.iter().any(|mark| text.starts_with(mark));
    if begins(&["\u{2022} Packages in scope: ", "\u{2022} Running "]) {
        Some(TaskRunner::Turborepo)
    } else if begins(&["lerna notice cli ", "lerna info ", "NX   Running target ", ">  NX   Running target "]) {
        Some(TaskRunner::Lerna)
    } else {
        (text.starts_with("Scope: ") && text.ends_with(" workspace projects")).then_some(TaskRunner::Pnpm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tasks after these lines.
    fn tasks(lines: &[&str]) -> Vec<String> {
        let mut lanes = TaskLanes::default();
        lanes.add_branch("unit");
        for (index, line) in lines.iter().enumerate() {
            lanes.line(index + 1, line, false);
        }
        lanes.lanes.into_keys().collect()
    }

    #[test]
    fn tasks_are_known_by_their_runner() {
        let lines = [
            "@acme/cart:test: a",
            "acme: > jest",
            "src/cart.c:12: error: b",
            "packages/cart test$ jest",
            "[INFO] c",
            "[2/5] d",
            "",
        ];
        assert_eq!(tasks(&lines), [""; 0]);
        assert_eq!(tasks(&[&["   \u{2022} Running test in 2 packages"], &lines[..]].concat()), ["@acme/cart:test"]);
        assert_eq!(tasks(&[&["lerna info Executing command"], &lines[..], &["acme: e", "Error: f"]].concat()), ["acme"]);
        assert_eq!(tasks(&[&["Scope: 2 of 3 workspace projects"], &lines[..]].concat()), ["packages/cart test"]);
        assert_eq!(tasks(&["[unit] + npm test", "[unit]", "[e2e] a"]), ["unit"]);
    }
}
