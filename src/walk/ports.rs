//! What the walk needs of the outside, as traits: someone who answers nodes, a journal, and bounded reads.

use super::agent::Agent;
use super::content::Content;
use super::event::Event;
use super::request::Request;
use crate::diag::Diagnostic;
use crate::model::{Case, Effect, Hash, Launch};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Answers nodes: a script, a stub, a person, an agent behind files or a network. The walk knows no more of them. Whoever lets
/// anything out of the process says so before, with [`Request::ask`].
pub trait Answerer: Send + Sync {
    /// Its name, as `--via` and the journal have it.
    fn name(&self) -> &str;

    /// The artifact for a node.
    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal>;

    /// Is told that its answer to a request for that case was committed: it may tell whoever gave it.
    fn recorded(&self, _case: &str, _agent: &Agent) {}
}

impl<A: Answerer + ?Sized> Answerer for std::sync::Arc<A> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        (**self).answer(request)
    }

    fn recorded(&self, case: &str, agent: &Agent) {
        (**self).recorded(case, agent);
    }
}

/// An answer to a node.
#[derive(Clone, Debug)]
pub struct NodeAnswer {
    /// The artifact.
    pub artifact: Arc<Value>,
    /// Who decided: `script`, `stub`, `agent`, `human`.
    pub by: &'static str,
    /// Whether the node's schema is enforced on it (`decisions.md` 41: not for stubs).
    pub checked: bool,
    /// Who was asked outside of the process, and what it took; nothing of an answer from within.
    pub agent: Option<Box<Agent>>,
}

impl NodeAnswer {
    /// An answer from within the process.
    pub fn own(artifact: Arc<Value>, by: &'static str, checked: bool) -> Self {
        Self { artifact, by, checked, agent: None }
    }

    /// What came of a walk, or of branches, in the place of an answer.
    pub(super) fn walked(artifact: Value) -> Self {
        Self::own(artifact.into(), super::step::WALK, false)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What went wrong, or what is waited for.
    pub diagnostic: Box<Diagnostic>,
    /// What to do about it.
    pub next: AfterRefusal,
}

/// What comes after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// Asking again won't help.
    GiveUp,
    /// Asking again may help, but not before this time has passed, if there is one.
    Retry(Option<Duration>),
    /// Nobody was asked: whoever it is has failed so often that it is left alone for this long.
    Rest(Duration),
    /// No answer yet: the case waits for somebody outside, and the walk can be resumed.
    Wait,
}

impl Refusal {
    /// A refusal for good.
    pub fn failed(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::GiveUp }
    }

    /// A failure that asking again may mend.
    pub fn again(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::Retry(None) }
    }

    /// No answer yet.
    pub fn wait(diagnostic: impl Into<Box<Diagnostic>>) -> Self {
        Self { diagnostic: diagnostic.into(), next: AfterRefusal::Wait }
    }
}

/// The append-only record of runs. Implementations are atomic per call: all of a [`Commit`] or nothing.
pub trait Journal: Send + Sync {
    /// Takes a step's commit. Returns when it is as safe as the session's durability level promises.
    fn commit(&self, commit: Commit) -> Result<(), JournalError>;

    /// Whether it keeps anything. A journal that does not is given nothing, and nothing is serialised or hashed for it.
    fn keeps(&self) -> bool {
        true
    }
}

/// All that one step (or the beginning or end of a walk) leaves behind, stored in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The events, in order; each with the case and path it is about.
    pub events: Vec<Event>,
    /// Content that the events refer to by hash.
    pub blobs: Vec<Blob>,
    /// Writes to the model of symptoms and root causes, handles resolved, about the events' case.
    pub effects: Vec<Effect<i64>>,
}

impl Commit {
    /// A commit of events, with the content they refer to, each once.
    pub fn of(events: Vec<Event>) -> Self {
        let mut blobs: Vec<Blob> = Vec::new();
        let mut add = |content: &Content| {
            let Some(text) = content.text() else { return };
            let hash = content.hash();
            if !blobs.iter().any(|blob| blob.hash == hash) {
                blobs.push(Blob { hash, text });
            }
        };
        events.iter().flat_map(|event| event.what.contents()).for_each(|content| content.each(&mut add));
        Self { events, blobs, effects: Vec::new() }
    }
}

/// Some content with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The address of `text`.
    pub hash: Hash,
    /// The content: canonical JSON, or the text of a script or template.
    pub text: Arc<str>,
}

impl Blob {
    /// Addresses a text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { hash: Hash::of(text.as_bytes()), text }
    }
}

/// Why the journal did not take a commit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process holds the store; trying again may help.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// It does not take what the commit asks for (an effect that contradicts what is stored); asking again won't help.
    #[error("the store refused a step: {0}")]
    Refused(String),
    /// There is no room for it.
    #[error("the disk is full: {0}")]
    Full(String),
    /// It cannot be written.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// Bounded reads of the store and the workspace, declared by nodes as `needs:` and run before the step.
pub trait Queries: Send + Sync {
    /// The answer to the query of that name for a case. Sees the store as of the run's original start, with what the cases of
    /// the run that stand before this one committed before the run's last barrier.
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String>;
}

/// Whom a query is about.
#[derive(Clone, Copy, Debug)]
pub struct QuerySubject<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// The case.
    pub case: &'a Case,
    /// The artifacts of the nodes visited so far, by node name, latest visit each.
    pub prior: &'a Value,
}

/// One query of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Its name in `needs:`; the result stands under `params.needs` with dots turned to underscores.
    pub name: &'static str,
    /// What it returns, for people.
    pub doc: &'static str,
    /// Whether the answer is the same for all cases and steps of a run. Only such ones may a scheduler read, which is asked
    /// before every step.
    pub of_run: bool,
}

/// Every query that a node may declare.
pub const NEEDS: &[Query] = &[
    Query {
        name: "symptoms.similar",
        of_run: false,
        doc: "up to 10 known symptoms like this case's failure, best first: `{id, test, error, category, component, score, \
              occurrences, first_seen, last_seen, same_run, launches, versions, earlier, why}`; score 1.0 means the same recall key, \
              less is the likeness of the words; same_run: found by a case of this run that stands before this one; earlier: how it \
              was seen in launches that began before this one (`{launches, first_seen, last_seen, days, launches_between}`), or \
              null; why: how alike names and errors are, how much each weighs, and words that the errors share",
    },
    Query {
        name: "rcas.of_symptom",
        of_run: false,
        doc: "up to 10 root causes linked to the symptoms that `symptoms.similar` finds, best first: `{id, symptom, title, message, \
              defect_type, component, status, confidence, same_run, status_since, status_by, overturned, replaced, by, launches, versions, earlier}`; overturned: a \
              review (by whom) took back that it is the cause, or put it right; same_run: of a case of this run that stands \
              before this one",
    },
    Query {
        name: "rcas.recent",
        of_run: false,
        doc: "up to 20 root causes created last before this run, newest first, then up to 20 of the first cases of this run that \
              stand before this one: `{id, title, message, defect_type, component, status, cases, same_run, status_since, launches, versions, earlier}`",
    },
    Query {
        name: "siblings",
        of_run: false,
        doc: "up to 50 other failures of the same launch: `{id, name, suite, error_message, recall_key, same_error}`",
    },
    Query {
        name: "cluster",
        of_run: false,
        doc: "the cases that wait for one another (`clusters:`): `{key, representative, members, prior}`, with the ids of the cases and, \
              for all but the representative, its artifacts by node; an empty map for a case that is like no other",
    },
    Query {
        name: "accuracy",
        of_run: true,
        doc: "of the last 500 cases that were reviewed before this run, how many of a walker's answers at a node stood: \
              `{walker, node, reviewed, stood, share}`; nothing of a walker and node of which no case was reviewed",
    },
    Query { name: "workspace", of_run: true, doc: "the repositories of the project file: `{name, path, purpose, branch}`" },
    Query {
        name: "workspace.log",
        of_run: false,
        doc: "of each repository that an earlier artifact selects, up to 10 commits before the launch that touched its \
              `focus_paths`, newest first: `{repo, commit, branch, at, commits: [{hash, date, age_days, author, subject, files, \
              touched}], more, notes}`",
    },
    Query {
        name: "workspace.blame",
        of_run: false,
        doc: "who last changed the lines of `focus_paths` (`path:line`) and two around each: `{repo, commit, branch, at, lines: \
              [{path, line, focus, text, commit, date, age_days, author, subject, boundary}], more, notes}`",
    },
    Query {
        name: "workspace.grep",
        of_run: false,
        doc: "up to 12 places of each of the `focus_terms`, which mean themselves: `{repo, commit, branch, at, matches: [{term, \
              path, line, text}], more, notes}`",
    },
];
