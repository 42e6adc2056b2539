//! The port to bounded reads of the store and the workspace, and the registry of those queries.

use asterisk_base::model::{Case, Launch};
use asterisk_evidence::{EvidenceReader, PeerKeys};
use serde_json::{Value, json};

/// Bounded reads of the store and the workspace, declared by nodes as `needs:` and run before the step.
pub trait Queries: Send + Sync {
    /// Answers a query for a case. Sees the store as of the run's original start, and what earlier cases of the run committed
    /// before its last barrier.
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String>;
}

/// The subject of a query.
#[derive(Clone, Copy, Debug)]
pub struct QuerySubject<'a> {
    pub launch: &'a Launch,
    pub case: &'a Case,
    /// The latest artifact of each node visited so far, by node name.
    pub prior: &'a Value,
    /// The key of the case's root; empty as long as it is not known.
    pub root: &'a str,
    /// Its evidence, for the queries that read it ([`PEERS`], [`CODE`]).
    pub evidence: Option<SubjectEvidence<'a>>,
}

/// The evidence of the subject of a query.
#[derive(Clone, Copy, Debug)]
pub struct SubjectEvidence<'a> {
    /// What it was read by.
    pub reader: &'a EvidenceReader,
    /// The keys of the case.
    pub keys: &'a PeerKeys,
}

impl<'a> QuerySubject<'a> {
    /// A case whose walk has just begun, without its evidence.
    pub fn new(launch: &'a Launch, case: &'a Case) -> Self {
        static NOTHING: Value = Value::Null;
        Self { launch, case, prior: &NOTHING, root: "", evidence: None }
    }
}

/// The query for what the failure has in common with others.
pub const PEERS: &str = "peers";

/// The query for the code that the failure is about.
pub const CODE: &str = "workspace.code";

/// The name of its result.
pub(super) const CODE_FIELD: &str = "workspace_code";

/// The answer to `workspace.code` if no checkout has the files of the failure.
pub fn unknown_code() -> Value {
    json!({ "known": false, "repo": "", "commit": "", "frames": [], "test": null, "symbols": [], "later": "" })
}

/// A query of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Its name in `needs:`; the result is `params.needs.NAME`, with underscores for dots.
    pub name: &'static str,
    /// What it returns, for documentation.
    pub doc: &'static str,
    /// Whether the answer is the same for all cases and steps of a run. A scheduler, which is run before every step, may declare
    /// only such queries.
    pub of_run: bool,
}

impl Query {
    /// The name of its result in `params.needs`.
    pub fn field(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// The answer to `tests.history` if no launch contains the test.
pub fn unknown_history() -> Value {
    json!({
        "known": false, "launches": 0, "passed": 0, "failed": 0, "skipped": 0, "flaky": 0, "flips": 0,
        "failing_since": null, "last_passed": null, "same_commit": { "passed": 0, "failed": 0 },
    })
}

/// The query for the decisions on roots, which the engine runs before it finds a root.
pub(super) const ROOT_WORDS: &Query = &Query {
    name: "roots.said",
    of_run: false,
    doc: "what people decided about roots before this run, for this case (`asterisk rca merge`, `asterisk rca split`): \
          `{pinned, merged}`; pinned: the key assigned to its failure, or null; merged: pairs of a key and its replacement",
};

/// Every query that a node may declare.
pub const NEEDS: &[Query] = &[
    Query {
        name: "symptoms.similar",
        of_run: false,
        doc: "up to 10 known symptoms like this case's failure, best first: `{id, test, error, category, component, score, \
              occurrences, first_seen, last_seen, same_run, launches, versions, earlier, why}`; score 1.0 means the same recall key, \
              lower scores are the similarity of the words; same_run: found by a case of this run that stands before this one; earlier: how it \
              was seen in launches that began before this one (`{launches, first_seen, last_seen, days, launches_between}`), or \
              null; why: the similarity of names and errors, their weights, and the words that the errors share",
    },
    Query {
        name: "rcas.of_symptom",
        of_run: false,
        doc: "up to 10 root causes linked to the symptoms that `symptoms.similar` finds, best first: `{id, symptom, title, message, \
              defect_type, component, status, confidence, reviewed, same_run, status_since, status_by, overturned, replaced, by, launches, versions, earlier}`; \
              confidence: how sure it is that the symptom comes of it; reviewed: a person said so; overturned: a review (by whom) took back that it is the cause, or put it right; same_run: of a case of this run that stands \
              before this one",
    },
    Query {
        name: "rcas.recent",
        of_run: false,
        doc: "up to 20 root causes created last before this run, newest first, then up to 20 of the first cases of this run that \
              stand before this one: `{id, title, message, defect_type, component, status, confidence, cases, same_run, status_since, launches, versions, earlier}`",
    },
    Query {
        name: "rcas.of_root",
        of_run: false,
        doc: "up to 10 root causes with the root of this case (`params.root.key`), the first one first: `{id, title, message, defect_type, \
              component, status, cases, same_run, status_since, launches, versions, earlier}`; of this run only those of cases that \
              stand before this one; nothing for a case whose root is not known",
    },
    *ROOT_WORDS,
    Query {
        name: "tests.history",
        of_run: false,
        doc: "the results of this test in up to 50 earlier launches of the same name: `{known, launches, passed, \
              failed, skipped, flaky, flips, failing_since, last_passed, same_commit}`; known: false if no launch tells of it, and all \
              counts are 0; launches: those that tell of it; flaky: failed and passed when retried, which ends as a pass; flips: changes \
              between passed and failed; failing_since, last_passed: the launch it fails since, the one it last passed in (`{launch, version, \
              commit, at}`), or null; same_commit: `{passed, failed}` in up to 50 other launches of the same commit, whatever their name",
    },
    Query {
        name: "siblings",
        of_run: false,
        doc: "other failures of the same launch, first up to 50 with the same error, then others, up to 20 in all: `{id, name, suite, \
              error_message, recall_key, same_error}`; errors are cut at 200 characters. `peers` compares them with this case",
    },
    Query {
        name: PEERS,
        of_run: false,
        doc: "what this failure has in common with others of the launch, by kind, the most frequent first: `{kind, of, key, count, cases, \
              suites}`; kind: `error` (the same error except numbers and ids), `headline`, `exception` (its type and the innermost \
              frame of the product), `frame` (of: `product`, or `test` for a helper), `match` (a signature's id), `name` (of: its kind \
              in `evidence.names`), `fixture` (the suite whose set-up failed), `window` (the minute in which the test failed); count: \
              how many failures have the key; cases: the ids of up to 8 others; suites: of how many suites they are. A `fixture` is told \
              to every failure of the suite and has `origin` if the set-up itself failed: `{id, name, headline, matches: [{id, text}], \
              same_error}`",
    },
    Query {
        name: "cluster",
        of_run: false,
        doc: "the cases that wait for one another (`clusters:`): `{key, representative, members, prior}`, with the ids of the cases and, \
              for all but the representative, its artifacts by node; an empty map for a case without a cluster",
    },
    Query {
        name: "accuracy",
        of_run: true,
        doc: "of the last 500 cases that were reviewed before this run, how many of a walker's answers at a node stood: \
              `{walker, node, reviewed, stood, share}`; nothing of a walker and node of which no case was reviewed",
    },
    Query {
        name: "reviews",
        of_run: true,
        doc: "of the last 500 times that people linked a failure to a root cause before this run: `{decision, given, taken_back}` of `approve` and of \
              `overturn` (with what is right); taken_back: how many of them a person later took back",
    },
    Query {
        name: "memory.recall",
        of_run: false,
        doc: "up to 50 memories of each of the `spaces` that earlier artifacts name, newest first: `{id, level, created_at, last_recalled_at, \
              space, entity, content, state, f, sigma, k, age_days, created_days, consolidated, sources, from}`; only those made before this \
              run; age_days: since it was made or last recalled, as of the beginning of the run",
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
        doc: "up to 12 locations of each of the `focus_terms`, which are literal: `{repo, commit, branch, at, matches: [{term, \
              path, line, text}], more, notes}`",
    },
    Query {
        name: "workspace.owners",
        of_run: false,
        doc: "who owns the files of `focus_paths`, by the CODEOWNERS file of each repository (`.github/`, its root, `docs/`; the last line \
              that matches decides): `{repo, commit, branch, at, files: [{path, owners, at}], more, notes}`; files without an owner are omitted",
    },
    Query {
        name: CODE,
        of_run: false,
        doc: "the code that the failure is about, in the repositories of the project file, or else in the git repository of the project: \
              `{known, repo, commit, frames, test, symbols, later}`; known: false without a checkout that has its files; \
              frames: of stack frames, where their files are (`{source, number, path, line, function}`); test: the statement that failed \
              (`{path, line, function, begins, ends, statement, exact, is_test, changed}`; exact: false if only the test is known), absent if unknown; \
              symbols: up to 8 definitions of the product that it uses, nearest first (`{name, path, line, ends, distance, used, called, \
              changed}`; distance: 0 in the statement, 1 in what gives its variables their values, and so on); changed: the last commit of \
              the lines (`{commit, date, age_days, author, subject}`), of the first symbol only; later: which of the two changed last: `product`, `test`, \
              `together`, or empty if unknown",
    },
];
