//! Evidence from the checkouts of the project's repositories: recent commits, blame and occurrences of terms; and the commits behind a
//! recorded script.
//!
//! Checkouts are never changed, and nothing in them is executed. A missing directory, git, history or branch is a note in the answer, never
//! a failure: an investigation continues with what is available. Answers are bounded in number, bytes and time, and deterministic for a
//! given checkout.
//!
//! Goals that write may work in a copy or a git worktree of their own (`isolated`), for which git records the worktree in its repository.

mod blame;
mod check;
mod checkout;
mod code;
mod focus;
mod folder;
mod git;
mod grep;
mod history;
mod isolated;
mod log;
mod owners;
mod paths;
#[cfg(test)]
mod tests;
mod text;

pub use check::{Checked, check, has_git};
pub use history::{Committed, GitCommit, committed};
pub use isolated::{IsolatedDir, Isolation, TreeChanges};

use asterisk_base::clock::Timestamp;
use asterisk_base::environment::Variables;
use asterisk_base::model::Hash;
use asterisk_walk::{CODE, Queries, QuerySubject, unknown_code};
use checkout::{Checkout, CheckoutTime, Repository};
use code::{CodeIndex, CodeReader};
use focus::WantedRepository;
use git::GitProgram;
use paths::PathMatch;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Capacity of the caches of answers and checkouts; a full cache is cleared.
const CACHE_CAPACITY: usize = 512;

/// Answers the queries `workspace.log`, `workspace.blame`, `workspace.grep`, `workspace.owners` and `workspace.code`.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    repositories: Vec<Repository>,
    variables: Variables,
    /// Located on first use; `None` if it is not installed.
    git: OnceLock<Option<GitProgram>>,
    checkouts: Mutex<HashMap<(String, CheckoutTime), Arc<Checkout>>>,
    /// What has been read of their code.
    code: Mutex<HashMap<(String, CheckoutTime), Arc<CodeIndex>>>,
    answers: Mutex<HashMap<Hash, Value>>,
}

impl Workspace {
    /// A workspace of the repositories of a project file (`[{name, path, branch}]`); relative paths are relative to `root`.
    pub fn new(root: impl Into<PathBuf>, repositories: &Value, variables: &Variables) -> Self {
        Self {
            root: root.into(),
            repositories: Repository::list(repositories),
            variables: variables.clone(),
            git: OnceLock::new(),
            checkouts: Mutex::default(),
            code: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    fn git(&self) -> Option<&GitProgram> {
        self.git.get_or_init(|| GitProgram::find(&self.variables)).as_ref()
    }

    /// Opens a repository, once for all cases of a launch.
    fn open(&self, repository: &Repository, when: &CheckoutTime) -> Arc<Checkout> {
        let key = (repository.name.clone(), when.clone());
        if let Some(known) = lock(&self.checkouts).get(&key) {
            return Arc::clone(known);
        }
        let opened = Arc::new(repository.open(&self.root, self.git(), when));
        let mut kept = lock(&self.checkouts);
        if kept.len() >= CACHE_CAPACITY {
            kept.clear();
        }
        Arc::clone(kept.entry(key).or_insert(opened))
    }

    /// The answer for a key, computed once: verdict and root of a case ask the same.
    fn cached(&self, key: &str, answer: impl FnOnce() -> Value) -> Value {
        let key = Hash::of(key.as_bytes());
        if let Some(known) = lock(&self.answers).get(&key) {
            return known.clone();
        }
        let answer = answer();
        let mut kept = lock(&self.answers);
        if kept.len() >= CACHE_CAPACITY {
            kept.clear();
        }
        kept.insert(key, answer.clone());
        answer
    }

    fn answer(&self, query: WorkspaceQuery, wanted: &WantedRepository, when: &CheckoutTime) -> Value {
        let Some(repository) = self.repositories.iter().find(|repository| repository.name == wanted.name) else {
            let mut answer = Checkout::default().head(&text::line(&wanted.name));
            query.finish(&mut answer, Vec::new(), false, &["the project file names no such repository".to_owned()]);
            return Value::Object(answer);
        };
        let checkout = self.open(repository, when);
        let mut answer = checkout.head(&repository.name);
        let mut notes = checkout.notes.clone();
        let (items, more) = self.look(query, wanted, when, &checkout, &mut notes);
        query.finish(&mut answer, items, more, &notes);
        Value::Object(answer)
    }

    fn look(
        &self,
        query: WorkspaceQuery,
        wanted: &WantedRepository,
        when: &CheckoutTime,
        checkout: &Checkout,
        notes: &mut Vec<String>,
    ) -> (Vec<Value>, bool) {
        let git = self.git();
        let mut items = Vec::new();
        let mut more = false;
        if checkout.dir.is_none() {
            return (items, more);
        }
        let mut take = |found: Result<(Vec<Value>, bool), String>, notes: &mut Vec<String>| match found {
            Ok((found, cut)) => {
                items.extend(found);
                more |= cut;
            }
            Err(note) => notes.push(text::line(&note)),
        };
        if query == WorkspaceQuery::Grep {
            for term in &wanted.terms {
                take(grep::places(git, checkout, term), notes);
            }
            return (items, more);
        }
        let mut found = Vec::new();
        for place in &wanted.places {
            match paths::find(&checkout.files, place) {
                PathMatch::File(path) => found.push((path, place.line)),
                PathMatch::Directory(path) => found.push((path, None)),
                PathMatch::None(note) => notes.push(text::line(&note)),
            }
        }
        if query == WorkspaceQuery::Owners {
            let mut paths: Vec<String> = found.into_iter().map(|(path, _)| path).collect();
            paths.dedup();
            take(owners::owners(checkout, &paths).map(|files| (files, false)), notes);
            return (items, more);
        }
        let Some(git) = git.filter(|_| checkout.commit.is_some()) else { return (items, more) };
        if query == WorkspaceQuery::Log {
            let mut paths: Vec<String> = found.into_iter().map(|(path, _)| path).collect();
            paths.dedup();
            // If the paths are not in the repository, its other commits are irrelevant.
            if !paths.is_empty() || wanted.places.is_empty() {
                take(log::commits(git, checkout, &paths, when), notes);
            }
        } else {
            for (path, line) in found {
                if let Some(line) = line {
                    take(blame::lines(git, checkout, &path, line, when).map(|lines| (lines, false)), notes);
                }
            }
        }
        (items, more)
    }
}

impl Workspace {
    /// The code that a failure is about, in the first repository that has a place of it: those of the project file, else the one that the
    /// project is in.
    fn code(&self, about: &QuerySubject<'_>, when: &CheckoutTime) -> Value {
        let Some(evidence) = about.evidence else { return unknown_code() };
        let around;
        let repositories = if self.repositories.is_empty() {
            around = Repository::around(&self.root);
            around.as_slice()
        } else {
            &self.repositories
        };
        for repository in repositories {
            let checkout = self.open(repository, when);
            if checkout.dir.is_none() || checkout.files.is_empty() {
                continue;
            }
            let key = (repository.name.clone(), when.clone());
            let index = Arc::clone(lock(&self.code).entry(key).or_default());
            let reader = CodeReader { git: self.git(), checkout: &checkout, index: &index, reader: evidence.reader, when };
            let mut answer = reader.code(about.case);
            if answer["known"] == true {
                answer["repo"] = json!(repository.name);
                answer["commit"] = json!(checkout.commit.as_deref().unwrap_or_default());
                return answer;
            }
        }
        unknown_code()
    }
}

impl Queries for Workspace {
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String> {
        let began = about.launch.started_at.or(about.case.started_at).map(Timestamp::millis);
        let when = CheckoutTime { commit: about.launch.git.commit.clone().unwrap_or_default(), began };
        if name == CODE {
            let case = about.case;
            let parts = [&case.id, &case.suite, &case.name, &case.error_message].map(String::as_str);
            let reader = about.evidence.map(|evidence| *evidence.reader.address());
            return Ok(self.cached(&format!("{CODE} {parts:?} {when:?} {reader:?}"), || self.code(about, &when)));
        }
        let query = WorkspaceQuery::named(name).ok_or_else(|| format!("the workspace answers no query `{name}`"))?;
        let one = |wanted: &WantedRepository| {
            self.cached(&format!("{query:?} {wanted:?} {when:?}"), || self.answer(query, wanted, &when))
        };
        if self.repositories.is_empty() {
            return Ok(json!([]));
        }
        Ok(focus::wanted(about.prior).iter().map(one).collect())
    }
}

/// Kind of query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkspaceQuery {
    Log,
    Blame,
    Grep,
    Owners,
}

impl WorkspaceQuery {
    fn named(name: &str) -> Option<Self> {
        match name {
            "workspace.log" => Some(Self::Log),
            "workspace.blame" => Some(Self::Blame),
            "workspace.grep" => Some(Self::Grep),
            "workspace.owners" => Some(Self::Owners),
            _ => None,
        }
    }

    /// Adds the results to the fields common to all answers.
    fn finish(self, answer: &mut Map<String, Value>, items: Vec<Value>, more: bool, notes: &[String]) {
        let key = match self {
            Self::Log => "commits",
            Self::Blame => "lines",
            Self::Grep => "matches",
            Self::Owners => "files",
        };
        answer.insert(key.to_owned(), Value::Array(items));
        answer.insert("more".to_owned(), json!(more));
        answer.insert("notes".to_owned(), json!(notes));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
