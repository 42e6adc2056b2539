//! The port to bounded reads of the store and the workspace, and the registry of those queries.

use crate::model::{Case, Launch};
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

/// The answer to `tests.history` where no launch tells of the test.
pub fn unknown_history() -> Value {
    json!({
        "known": false, "launches": 0, "passed": 0, "failed": 0, "skipped": 0, "flaky": 0, "flips": 0,
        "failing_since": null, "last_passed": null, "same_commit": { "passed": 0, "failed": 0 },
    })
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
        name: "tests.history",
        of_run: false,
        doc: "how this very test ended in the up to 50 launches of the same name that began before this one: `{known, launches, passed, \
              failed, skipped, flaky, flips, failing_since, last_passed, same_commit}`; known: false if no launch tells of it, and all \
              counts are 0; launches: those that tell of it; flaky: failed and passed when retried, which ends as a pass; flips: changes \
              between passed and failed; failing_since, last_passed: the launch it fails since, the one it last passed in (`{launch, version, \
              commit, at}`), or null; same_commit: `{passed, failed}` in up to 50 other launches of the same commit, whatever their name",
    },
    Query {
        name: "siblings",
        of_run: false,
        doc: "up to 50 other failures of the same launch, those with the same error first: `{id, name, suite, error_message, recall_key, \
              same_error}`; of the error up to 2000 characters if it is another of this suite, otherwise 200",
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
