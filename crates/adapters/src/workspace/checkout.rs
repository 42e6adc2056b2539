//! A repository on disk, at the commit that a launch tested.

use super::folder;
use super::git::GitProgram;
use super::text::line;
use asterisk_base::clock::Timestamp;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A repository of the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repository {
    pub(super) name: String,
    /// Empty if the project file has none.
    pub(super) path: String,
    /// The branch to use; empty for the one checked out.
    pub(super) branch: String,
}

/// Commit and time of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CheckoutTime {
    /// The commit under test.
    pub(super) commit: String,
    /// Start of the launch in milliseconds; nothing later can be its cause.
    pub(super) began: Option<i64>,
}

/// An opened repository. Problems are in `notes`; queries are answered as far as possible.
#[derive(Clone, Debug, Default)]
pub(super) struct Checkout {
    /// Its directory; `None` if it does not exist.
    pub(super) dir: Option<PathBuf>,
    /// The commit to inspect; `None` without version control.
    pub(super) commit: Option<String>,
    /// The branch, if known.
    pub(super) branch: String,
    /// Why this commit was chosen: `launch` (named by the launch), `branch`, `head`; empty without a commit.
    pub(super) because: &'static str,
    /// The files at that commit, sorted.
    pub(super) files: Vec<String>,
    /// Whether its history ends early.
    pub(super) shallow: bool,
    /// Problems found on opening.
    pub(super) notes: Vec<String>,
}

impl Repository {
    /// The repositories of the project file.
    pub(super) fn list(repositories: &Value) -> Vec<Self> {
        let text = |repo: &Value, key: &str| repo[key].as_str().unwrap_or_default().to_owned();
        let one = |repo: &Value| Self { name: text(repo, "name"), path: text(repo, "path"), branch: text(repo, "branch") };
        repositories.as_array().into_iter().flatten().map(one).collect()
    }

    /// The git repository that a directory is in, as that directory shows it; nothing outside of any.
    pub(super) fn around(root: &Path) -> Vec<Self> {
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let Ok(dir) = root.canonicalize() else { return Vec::new() };
        if !dir.ancestors().any(|dir| dir.join(".git").exists()) {
            return Vec::new();
        }
        let name = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        vec![Self { name, path: ".".to_owned(), branch: String::new() }]
    }

    /// The directory, if it exists. A relative path is relative to the project file.
    pub(super) fn dir(&self, root: &Path) -> Result<PathBuf, String> {
        if self.path.is_empty() {
            return Err("the project file sets no `path` for it".into());
        }
        let dir = root.join(&self.path);
        match dir.canonicalize() {
            Ok(dir) if dir.is_dir() => Ok(dir),
            Ok(_) => Err(format!("`{}` is not a directory", self.path)),
            Err(_) => Err(format!("`{}` does not exist", self.path)),
        }
    }

    /// Opens the repository at the commit that the launch tested: the one it names, else the last one of the branch before it began.
    pub(super) fn open(&self, root: &Path, git: Option<&GitProgram>, when: &CheckoutTime) -> Checkout {
        let mut checkout = Checkout::default();
        let dir = match self.dir(root) {
            Ok(dir) => dir,
            Err(note) => {
                checkout.notes.push(note);
                return checkout;
            }
        };
        match git {
            Some(git) => {
                if let Err(note) = checkout.find_commit(git, &dir, &self.branch, when) {
                    checkout.notes.push(note);
                }
            }
            None => checkout.notes.push("git is not installed, so history is unavailable".into()),
        }
        if checkout.commit.is_none() {
            let (files, cut) = folder::files(&dir);
            checkout.files = files;
            if cut {
                checkout.notes.push(format!("only the first {} files were inspected", folder::MAX_FILES));
            }
        }
        checkout.dir = Some(dir);
        checkout
    }
}

impl Checkout {
    fn find_commit(&mut self, git: &GitProgram, dir: &Path, branch: &str, when: &CheckoutTime) -> Result<(), String> {
        let output = git.run(dir, &["rev-parse", "--is-shallow-repository"])?;
        if !output.ok {
            return Err(match output.error_line.as_str() {
                error_line if error_line.contains("not a git repository") => {
                    "it is not a git repository, so it has no history".into()
                }
                error_line if error_line.contains("dubious ownership") => {
                    "git does not trust it, because it belongs to another user; history is unavailable".into()
                }
                error_line => format!("git cannot read it ({error_line}); history is unavailable"),
            });
        }
        let shallow = output.text.starts_with(b"true");
        let (commit, because) = self.start(git, dir, branch, when)?;
        let (commit, because) = self.before(git, dir, commit, because, when)?;
        let output = git.run(dir, &["ls-tree", "-r", "-z", "--name-only", &commit])?;
        let names = output.text.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        self.files = names.filter_map(|name| Some(std::str::from_utf8(name).ok()?.to_owned())).collect();
        if output.cut {
            self.files.pop();
            self.notes.push(format!("only its first {} files were listed", self.files.len()));
        }
        if self.files.is_empty() {
            return Err("git tracks no files there, so it has no history".into());
        }
        self.files.sort();
        self.shallow = shallow;
        if shallow {
            self.notes.push("it is a shallow clone: its history ends early".into());
        }
        (self.commit, self.because) = (Some(commit), because);
        Ok(())
    }

    /// The commit to start from: the launch's, else the branch's, else the one checked out.
    fn start(
        &mut self,
        git: &GitProgram,
        dir: &Path,
        branch: &str,
        when: &CheckoutTime,
    ) -> Result<(String, &'static str), String> {
        let commit =
            |name: &str| git.line(dir, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")]);
        let is_hash = (7..=64).contains(&when.commit.len()) && when.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash && let Some(found) = commit(&when.commit)? {
            return Ok((found, "launch"));
        }
        if !branch.is_empty() {
            let fit = !branch.contains("..")
                && !branch.contains("@{")
                && !branch.contains(|ch: char| " ~^:?*[\\".contains(ch) || ch.is_control());
            for below in ["refs/heads/", "refs/remotes/origin/", "refs/tags/"] {
                if fit && let Some(found) = commit(&format!("{below}{branch}"))? {
                    branch.clone_into(&mut self.branch);
                    return Ok((found, "branch"));
                }
            }
            self.notes.push(format!("it has no branch `{}`: the checked-out commit is used instead", line(branch)));
        }
        match git.line(dir, &["symbolic-ref", "--quiet", "--short", "HEAD"])? {
            Some(name) => self.branch = line(&name),
            None => self.notes.push("no branch is checked out (HEAD is detached)".into()),
        }
        Ok((commit("HEAD")?.ok_or("it has no commits yet")?, "head"))
    }

    /// The last commit before the launch began, unless the launch names one.
    fn before(
        &mut self,
        git: &GitProgram,
        dir: &Path,
        commit: String,
        because: &'static str,
        when: &CheckoutTime,
    ) -> Result<(String, &'static str), String> {
        let Some(began) = when.began.filter(|_| because != "launch") else {
            if because != "launch" {
                self.notes.push("the start of the launch is unknown: newer commits may be included".into());
            }
            return Ok((commit, because));
        };
        let limit = format!("--min-age={}", began.div_euclid(1000));
        Ok(match git.line(dir, &["rev-list", "-n", "1", &limit, &commit, "--"])? {
            Some(earlier) => (earlier, because),
            None => {
                self.notes.push("all its commits are newer than the launch: lines may have moved since".into());
                (commit, because)
            }
        })
    }

    /// The fields common to all answers.
    pub(super) fn head(&self, name: &str) -> Map<String, Value> {
        let head = json!({
            "repo": name, "commit": self.commit.as_deref().unwrap_or_default(), "branch": self.branch, "at": self.because,
        });
        head.as_object().cloned().unwrap_or_default()
    }
}

/// Formats a time of git's, given in seconds.
pub(super) fn date(seconds: &str) -> String {
    let millis = seconds.parse::<i64>().unwrap_or_default().saturating_mul(1000);
    Timestamp::from_millis(millis).to_string()
}

/// Days (to a tenth) from a time of git's to the start of the launch; null if that is unknown.
#[allow(clippy::cast_precision_loss)]
pub(super) fn age(seconds: &str, when: &CheckoutTime) -> Value {
    let (Some(began), Ok(seconds)) = (when.began, seconds.parse::<i64>()) else { return Value::Null };
    let days = (began / 1000).saturating_sub(seconds) as f64 / 86_400.0;
    json!((days * 10.0).round() / 10.0)
}
