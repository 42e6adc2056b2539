//! Checks that the repositories of the project file can be used.

use super::checkout::{CheckoutTime, Repository};
use super::git::GitProgram;
use asterisk_base::environment::Variables;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// Result of the check of one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Name of the repository.
    pub name: String,
    /// Path as written in the project file.
    pub path: String,
    /// Whether the directory exists.
    pub there: bool,
    /// The commit at which a current launch would be investigated; empty without version control.
    pub commit: String,
    /// The branch, if known.
    pub branch: String,
    /// Problems: no path, no directory, no such branch, no git, a shallow clone.
    pub notes: Vec<String>,
}

/// Whether `git` is installed.
pub fn has_git(variables: &Variables) -> bool {
    GitProgram::find(variables).is_some()
}

/// Checks each repository (`[{name, path, branch}]`); relative paths are relative to `root`.
pub fn check(variables: &Variables, root: &Path, repositories: &Value, now: asterisk_base::clock::Timestamp) -> Vec<Checked> {
    let git = GitProgram::find(variables);
    let when = CheckoutTime { commit: String::new(), began: Some(now.millis()) };
    let one = |repository: Repository| {
        let found = repository.open(root, git.as_ref(), &when);
        Checked {
            there: found.dir.is_some(),
            commit: found.commit.unwrap_or_default(),
            branch: found.branch,
            notes: found.notes,
            name: repository.name,
            path: repository.path,
        }
    };
    Repository::list(repositories).into_iter().map(one).collect()
}
