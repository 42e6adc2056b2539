//! Whether the repositories of the project file are where it says, for people who set a project up.

use super::checkout::{CheckoutTime, Repository};
use super::git::GitProgram;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// What was found of one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Its path, as the project file has it.
    pub path: String,
    /// Whether its directory is there.
    pub there: bool,
    /// The commit that would be looked at for a launch of now; empty without version control.
    pub commit: String,
    /// The branch, if it is known.
    pub branch: String,
    /// What is missing: no path, no directory, no such branch, no git, a shallow clone.
    pub notes: Vec<String>,
}

/// Whether there is a git to ask.
pub fn has_git() -> bool {
    GitProgram::find().is_some()
}

/// Looks at each repository (`[{name, path, branch}]`); relative paths are relative to `root`.
pub fn check(root: &Path, repositories: &Value, now: crate::clock::Timestamp) -> Vec<Checked> {
    let git = GitProgram::find();
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
