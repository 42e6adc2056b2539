//! A directory of its own for tools that write: a copy of a directory, or a git worktree of its checkout.

use super::git::{GitOutput, GitProgram};
use asterisk_base::environment::Variables;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Directories that a copy leaves out: those of git and of the store.
const LEFT_OUT: &[&str] = &[".git", ".asterisk"];
/// How long git may take to check a worktree out.
const CHECKOUT_TIME: Duration = Duration::from_secs(600);
/// The most directories of one origin at a time.
const MOST: usize = 1000;

/// What an isolated directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// A copy of the directory.
    Copy,
    /// A worktree of the git repository that the directory belongs to.
    Worktree,
}

impl Isolation {
    pub const ALL: [Self; 2] = [Self::Copy, Self::Worktree];

    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Worktree => "worktree",
        }
    }
}

/// A directory that stands in for another one, next to it.
#[derive(Clone, Debug)]
pub struct IsolatedDir {
    pub isolation: Isolation,
    /// The directory that it stands in for.
    pub origin: PathBuf,
    /// Where it is.
    pub dir: PathBuf,
}

/// How an isolated directory differs from its origin: paths relative to both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeChanges {
    pub new: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl TreeChanges {
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl IsolatedDir {
    /// Makes one. `origin` is a resolved path of a directory.
    pub fn create(variables: &Variables, isolation: Isolation, origin: &Path) -> Result<Self, String> {
        let dir = match isolation {
            Isolation::Copy => {
                copy_next_to(origin).map_err(|error| format!("`{}` cannot be copied: {error}", origin.display()))?
            }
            Isolation::Worktree => worktree_next_to(variables, origin)?,
        };
        Ok(Self { isolation, origin: origin.to_owned(), dir })
    }

    /// How it differs from its origin. A copy is compared with the origin as it is now, a worktree with the commit that it was made of.
    pub fn changes(&self, variables: &Variables) -> Result<TreeChanges, String> {
        match self.isolation {
            Isolation::Copy => differences(&self.origin, &self.dir).map_err(|error| format!("it cannot be compared: {error}")),
            Isolation::Worktree => {
                let repository = OriginRepository::of(variables, &self.origin)?;
                let top = self.top(&repository)?;
                let (git_dir, tree) = (repository.git_dir_of(&top)?, format!("--work-tree={}", top.display()));
                // Uses the repository's own records: changes that tools made to the worktree's `.git` are ignored.
                let git_dir = format!("--git-dir={}", git_dir.display());
                let status = repository.git(&[&git_dir, &tree, "status", "--porcelain=v1", "-z", "-uall", "--no-renames"])?;
                Ok(changes_of_status(&status, &repository.prefix))
            }
        }
    }

    /// The commands that take the changes over, and that discard them.
    pub fn commands(&self, variables: &Variables, quote: impl Fn(&str) -> String) -> (String, String) {
        let quoted = |path: &Path| quote(&path.display().to_string());
        let (dir, origin) = (quoted(&self.dir), quoted(&self.origin));
        match self.isolation {
            Isolation::Copy => (format!("cp -R {dir}/. {origin}/"), format!("rm -r {dir}")),
            Isolation::Worktree => {
                let top = OriginRepository::of(variables, &self.origin).and_then(|repository| {
                    let top = self.top(&repository)?;
                    Ok((quoted(&top), quoted(&repository.top)))
                });
                let (top, of) = top.unwrap_or((dir, origin));
                let take = format!("git -C {top} add -A && git -C {top} diff --cached --binary | git -C {of} apply");
                (take, format!("git -C {of} worktree remove --force {top}"))
            }
        }
    }

    /// Removes it if it is as it was made. Returns whether it was removed.
    pub fn discard_unchanged(&self, variables: &Variables) -> Result<bool, String> {
        if !self.changes(variables)?.is_empty() {
            return Ok(false);
        }
        match self.isolation {
            Isolation::Copy => fs::remove_dir_all(&self.dir).map_err(|error| error.to_string())?,
            Isolation::Worktree => {
                let repository = OriginRepository::of(variables, &self.origin)?;
                let top = self.top(&repository)?;
                // Git itself refuses if anything in it is not committed.
                repository.git(&["worktree", "remove", "--", &top.to_string_lossy()])?;
            }
        }
        Ok(true)
    }

    /// The root of the worktree.
    fn top(&self, repository: &OriginRepository) -> Result<PathBuf, String> {
        let up = Path::new(&repository.prefix).components().count();
        let top = self.dir.ancestors().nth(up).ok_or("it has no worktree")?;
        Ok(top.to_owned())
    }
}

/// A git repository, and where in it a directory is.
struct OriginRepository {
    program: GitProgram,
    top: PathBuf,
    /// The directory relative to `top`, with a `/` behind it; empty at the top.
    prefix: String,
}

impl OriginRepository {
    fn of(variables: &Variables, dir: &Path) -> Result<Self, String> {
        let program = GitProgram::find(variables).ok_or("git is not installed")?.with_timeout(CHECKOUT_TIME);
        let line = |args: &[&str]| program.line(dir, args);
        let Some(top) = line(&["rev-parse", "--show-toplevel"])? else {
            return Err(format!("`{}` is not in a git repository", dir.display()));
        };
        let prefix = line(&["rev-parse", "--show-prefix"])?.unwrap_or_default();
        Ok(Self { program, top: top.into(), prefix })
    }

    /// Runs git at the top. Returns its output.
    fn git(&self, args: &[&str]) -> Result<Vec<u8>, String> {
        match self.program.run(&self.top, args)? {
            GitOutput { ok: true, cut: false, text, .. } => Ok(text),
            GitOutput { cut: true, .. } => Err("git wrote too much, or took too long".into()),
            output => Err(format!("git: {}", output.error_line)),
        }
    }

    /// What git keeps of a worktree.
    fn git_dir_of(&self, worktree: &Path) -> Result<PathBuf, String> {
        let common = self.git(&["rev-parse", "--git-common-dir"])?;
        let all = self.top.join(String::from_utf8_lossy(&common).trim_end()).join("worktrees");
        let wanted = worktree.join(".git");
        let entries = fs::read_dir(&all).map_err(|error| format!("`{}`: {error}", all.display()))?;
        let is_wanted =
            |dir: &PathBuf| fs::read_to_string(dir.join("gitdir")).is_ok_and(|path| Path::new(path.trim_end()) == wanted);
        let found = entries.filter_map(|entry| Some(entry.ok()?.path())).find(is_wanted);
        found.ok_or_else(|| format!("git has no worktree `{}`", worktree.display()))
    }
}

/// The first free name next to a directory.
fn free_name(origin: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (origin.parent(), origin.file_name()) else {
        return Err(io::Error::other("it has no parent directory"));
    };
    let name = name.to_string_lossy();
    let free = |number| Some(parent.join(format!("{name}.goal-{number}"))).filter(|path| path.symlink_metadata().is_err());
    (1..=MOST).find_map(free).ok_or_else(|| io::Error::other(format!("{MOST} of them already exist: remove some")))
}

/// Makes a worktree of the last commit, and returns the directory in it that stands for `origin`.
fn worktree_next_to(variables: &Variables, origin: &Path) -> Result<PathBuf, String> {
    let repository = OriginRepository::of(variables, origin)?;
    if !repository.git(&["status", "--porcelain=v1", "-z"])?.is_empty() {
        return Err(format!("`{}` has uncommitted changes, which a worktree would lack", repository.top.display()));
    }
    let top = free_name(&repository.top).map_err(|error| error.to_string())?;
    repository.git(&["worktree", "add", "--quiet", "--detach", "--", &top.to_string_lossy(), "HEAD"])?;
    let dir = top.join(&repository.prefix);
    // Without the separator that a prefix ends with.
    let dir: PathBuf = dir.components().collect();
    if dir.is_dir() { Ok(dir) } else { Err(format!("the last commit has no directory `{}`", repository.prefix)) }
}

/// Copies a directory, to be found under its name when it is whole.
fn copy_next_to(origin: &Path) -> io::Result<PathBuf> {
    let parent = origin.parent().ok_or_else(|| io::Error::other("it has no parent directory"))?;
    let made = tempfile::Builder::new().prefix(".goal-copy-").tempdir_in(parent)?;
    fs::set_permissions(made.path(), fs::metadata(origin)?.permissions())?;
    copy_tree(origin, made.path())?;
    let dir = free_name(origin)?;
    fs::rename(made.path(), &dir)?;
    let _moved = made.keep();
    Ok(dir)
}

/// Copies what is in a directory.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if is_left_out(&entry) {
            continue;
        }
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_tree(&path, &target)?;
            fs::set_permissions(&target, fs::metadata(&path)?.permissions())?;
        } else if kind.is_file() {
            fs::copy(&path, &target)?;
        } else if kind.is_symlink() {
            copy_link(&path, &target)?;
        }
    }
    Ok(())
}

fn is_left_out(entry: &fs::DirEntry) -> bool {
    LEFT_OUT.iter().any(|name| entry.file_name() == *name)
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

/// Tools follow no links, so they do not need one that cannot be created.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it has the form that it has on Unix")]
fn copy_link(_from: &Path, _to: &Path) -> io::Result<()> {
    Ok(())
}

/// The files and links below a directory, by relative path.
fn listed(root: &Path) -> io::Result<BTreeMap<String, fs::FileType>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if is_left_out(&entry) {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() || cfg!(unix) && kind.is_symlink() {
                let path = entry.path();
                let relative = path.strip_prefix(root).unwrap_or(&path);
                found.insert(relative.to_string_lossy().into_owned(), kind);
            }
        }
    }
    Ok(found)
}

/// How a copy differs from its origin.
fn differences(origin: &Path, copy: &Path) -> io::Result<TreeChanges> {
    let (before, after) = (listed(origin)?, listed(copy)?);
    let mut changes = TreeChanges::default();
    for (path, kind) in &after {
        match before.get(path) {
            None => changes.new.push(path.clone()),
            Some(was) if was != kind || !is_same(&origin.join(path), &copy.join(path), *kind)? => {
                changes.changed.push(path.clone());
            }
            Some(_) => {}
        }
    }
    changes.removed = before.into_keys().filter(|path| !after.contains_key(path)).collect();
    Ok(changes)
}

fn is_same(one: &Path, other: &Path, kind: fs::FileType) -> io::Result<bool> {
    if kind.is_symlink() {
        return Ok(fs::read_link(one)? == fs::read_link(other)?);
    }
    if fs::metadata(one)?.len() != fs::metadata(other)?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(File::open(one)?), BufReader::new(File::open(other)?));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let most = left.len().min(right.len());
        if most == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..most] != right[..most] {
            return Ok(false);
        }
        one.consume(most);
        other.consume(most);
    }
}

/// Reads `git status --porcelain=v1 -z`: two letters, a space, a path. Paths are relative to the root of the worktree.
fn changes_of_status(status: &[u8], prefix: &str) -> TreeChanges {
    let mut changes = TreeChanges::default();
    for entry in String::from_utf8_lossy(status).split('\0').filter(|entry| entry.len() > 3) {
        let (Some(letters), Some(path)) = (entry.get(..2), entry.get(3..)) else { continue };
        let list = match letters {
            "??" => &mut changes.new,
            letters if letters.contains('A') => &mut changes.new,
            letters if letters.contains('D') => &mut changes.removed,
            _ => &mut changes.changed,
        };
        list.push(path.strip_prefix(prefix).unwrap_or(path).to_owned());
    }
    for list in [&mut changes.new, &mut changes.changed, &mut changes.removed] {
        let sorted: BTreeSet<String> = list.drain(..).collect();
        list.extend(sorted);
    }
    changes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tree(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn a_copy_has_all_but_git_and_the_store() {
        let root = tempfile::tempdir().unwrap();
        let origin = root.path().join("work");
        tree(&origin, &[("a.txt", "a"), ("sub/b.txt", "b"), (".git/config", "c"), ("sub/.asterisk/asterisk.db", "d")]);
        let copy = IsolatedDir::create(&Variables::default(), Isolation::Copy, &origin).unwrap();
        assert_eq!(copy.dir, root.path().join("work.goal-1"));
        assert_eq!(listed(&copy.dir).unwrap().into_keys().collect::<Vec<_>>(), ["a.txt", "sub/b.txt"]);
        assert_eq!(copy.changes(&Variables::default()).unwrap(), TreeChanges::default());
        tree(&copy.dir, &[("new/c.txt", "c"), ("a.txt", "A")]);
        fs::remove_file(copy.dir.join("sub/b.txt")).unwrap();
        let paths = |path: &str| vec![path.to_owned()];
        let wanted = TreeChanges { new: paths("new/c.txt"), changed: paths("a.txt"), removed: paths("sub/b.txt") };
        assert_eq!(copy.changes(&Variables::default()).unwrap(), wanted);
        assert_eq!(copy.discard_unchanged(&Variables::default()), Ok(false));
        let second = IsolatedDir::create(&Variables::default(), Isolation::Copy, &origin).unwrap();
        assert_eq!(
            (second.discard_unchanged(&Variables::default()), second.dir.exists(), copy.dir.exists()),
            (Ok(true), false, true)
        );
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_copied_as_links() {
        let root = tempfile::tempdir().unwrap();
        let origin = root.path().join("work");
        tree(&origin, &[("a.txt", "a")]);
        std::os::unix::fs::symlink("/nowhere", origin.join("link")).unwrap();
        let copy = IsolatedDir::create(&Variables::default(), Isolation::Copy, &origin).unwrap();
        assert_eq!(fs::read_link(copy.dir.join("link")).unwrap(), Path::new("/nowhere"));
        assert!(copy.changes(&Variables::default()).unwrap().is_empty());
        fs::remove_file(copy.dir.join("link")).unwrap();
        fs::write(copy.dir.join("link"), "").unwrap();
        assert_eq!(copy.changes(&Variables::default()).unwrap().changed, ["link"]);
    }

    #[test]
    fn a_status_is_read() {
        let changes = changes_of_status(b"?? sub/b c.txt\0 M sub/a.txt\0 D x.txt\0A  sub/n.txt\0", "sub/");
        assert_eq!(
            changes,
            TreeChanges {
                new: vec!["b c.txt".into(), "n.txt".into()],
                changed: vec!["a.txt".into()],
                removed: vec!["x.txt".into()]
            }
        );
    }
}
