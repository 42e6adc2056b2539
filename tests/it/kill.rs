//! `kill -9` at any instant, any number of times: the run resumes, nothing acknowledged is lost or repeated, and the
//! result equals that of an undisturbed run.
//!
//! Debug builds of the store halt at the n-th boundary of their transactions (before it, before the commit, after it) when
//! `ASTERISK_HALT_AT=n`; the test waits for that and kills there.

use crate::harness::{PATIENCE, Project, Ran, full_size, stride};
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Child;
use std::time::{Duration, Instant};

/// Two cases, one of them round the investigation loop, by canned answers.
pub(crate) fn small(project: &Project) {
    let cases = json!([{ "id": "a", "name": "it adds up", "status": "FAILED", "error_message": "expected 2, got 3" },
                       { "id": "b", "name": "it goes round", "status": "FAILED", "error_message": "timed out after 30 s" }]);
    let launch = json!({ "run_id": "7", "name": "small", "failure_list": cases });
    let found = |score: f64| {
        let message = format!("the sum is wrong, {score}");
        json!({ "rca_message": message, "defect_type": "pb001", "convergence_score": score, "evidence_refs": ["log"] })
    };
    let common = json!({
        "recall": [{ "match": false, "confidence": 0.1 }],
        "triage": [{ "symptom_category": "assertion", "candidate_repos": ["sums"] }],
        "resolve": [{ "selected_repos": [{ "name": "sums" }] }],
        "investigate": [found(0.9)],
        "correlate": [{ "is_duplicate": false, "confidence": 0.2 }],
        "review": [{ "decision": "approve" }],
        "report": [{ "summary": "s" }],
    });
    let looping = json!({ "investigate": [found(0.3), found(0.8)] });
    project.file("launch.json", launch.to_string());
    project.file("stub.json", json!({ "*": common, "b": looping }).to_string());
}

pub(crate) const RUN: [&str; 11] =
    ["run", "--input", "launch.json", "--stub", "stub.json", "--parallel", "1", "--files", "always", "--format", "json"];

/// What a run leaves behind.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    said: Ran,
    events: Vec<Value>,
    tables: BTreeMap<String, Vec<String>>,
    pub(crate) rca: String,
    report: String,
}

impl Outcome {
    pub(crate) fn of(project: &Project, said: Ran, run: &str) -> Self {
        let below = |name: &str| project.read(&format!(".asterisk/investigations/{run}/{name}"));
        let event = |line: &str| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event.as_object_mut().unwrap().remove("seq");
            event
        };
        let events = below("events.jsonl").lines().map(event).collect();
        Self { said, events, tables: tables(project), rca: below("rca.json"), report: below("report.md") }
    }
}

impl Outcome {
    /// Without the rows, whose packed texts differ from store to store.
    pub(crate) fn without_rows(self) -> Self {
        Self { tables: BTreeMap::new(), ..self }
    }
}

/// Every row of every table but the journal, which [`Outcome::events`] holds.
fn tables(project: &Project) -> BTreeMap<String, Vec<String>> {
    let conn = rusqlite::Connection::open(project.root().join(".asterisk/asterisk.db")).unwrap();
    // No process holds it any more.
    conn.busy_timeout(Duration::ZERO).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK").unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'events'";
    let names: Vec<String> = conn.prepare(names).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |name: &String| {
        // How often a run was taken up differs.
        let columns = "SELECT group_concat(name) FROM pragma_table_info(?1) WHERE name <> 'holder'";
        let columns: String = conn.query_row(columns, [name], |row| row.get(0)).unwrap();
        let mut all = conn.prepare(&format!("SELECT {columns} FROM \"{name}\"")).unwrap();
        let width = all.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let cells: Vec<Sql> = (0..width).map(|column| row.get(column).unwrap()).collect();
            Ok(format!("{cells:?}"))
        };
        let mut rows: Vec<String> = all.query_map([], row).unwrap().map(Result::unwrap).collect();
        rows.sort();
        rows
    };
    names.iter().map(|name| (name.clone(), rows(name))).collect()
}

/// Starts the program so that it halts at that boundary, and waits until it does. None, with its output, if it ended
/// before.
pub(crate) fn halted(project: &Project, args: &[&str], at: u64) -> Result<Child, Ran> {
    halted_at(project, args, &at.to_string())
}

/// The same, and again at others of these boundaries, with commas between them, once the file that says so is removed.
pub(crate) fn halted_at(project: &Project, args: &[&str], at: &str) -> Result<Child, Ran> {
    let file = project.root().join("halted");
    std::fs::remove_file(&file).unwrap_or_default();
    let mut command = project.command(args);
    let mut child = command.env("ASTERISK_HALT_AT", at).env("ASTERISK_HALT_FILE", &file).spawn().unwrap();
    let patience = Instant::now() + PATIENCE;
    while !std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
        if child.try_wait().unwrap().is_some() {
            return Err(project.ran(&child.wait_with_output().unwrap()));
        }
        assert!(Instant::now() < patience, "it neither halts nor ends");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(child)
}

/// Kills a process as nothing can be refused.
pub(crate) fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

pub(crate) fn undisturbed() -> (String, Outcome) {
    let project = Project::new();
    small(&project);
    let said = project.asterisk(&RUN).ok();
    let run = said.json()["run"].as_str().unwrap().to_owned();
    let outcome = Outcome::of(&project, said, &run);
    (run, outcome)
}

/// Runs, killed at each of these boundaries in turn (each counted by a separate process), then to completion.
fn disturbed(run: &str, kills: &[u64]) -> Outcome {
    let project = Project::new();
    small(&project);
    let resume = ["run", "--resume", run, "--parallel", "1", "--format", "json"];
    let known = || project.asterisk(&["status", run, "--format", "json"]).code == Some(0);
    for &at in kills {
        let args: &[&str] = if known() { &resume } else { &RUN };
        match halted(&project, args, at) {
            Ok(child) => kill(child),
            Err(ended) => drop(ended.ok()),
        }
    }
    let said = if known() { project.asterisk(&resume) } else { project.asterisk(&RUN) }.ok();
    nothing_left(&project);
    Outcome::of(&project, said, run)
}

/// What killed processes left behind is gone: leases, halves of files. (The log next to the store is not a remainder: it exists whenever
/// the store was read last.)
pub(crate) fn nothing_left(project: &Project) {
    let beside = ["", "-wal", "-shm"].map(|ending| format!(".asterisk/asterisk.db{ending}"));
    for (path, _) in project.tree() {
        let own = !path.starts_with(".asterisk/asterisk.db") || beside.contains(&path);
        assert!(own && !path.ends_with('~') && !path.contains("/.probe"), "{path} is left");
    }
}

#[track_caller]
pub(crate) fn same(left: &Outcome, right: &Outcome, kills: &[u64]) {
    assert_eq!(left.said.text(), right.said.text(), "killed at {kills:?}");
    assert_eq!(left.events, right.events, "killed at {kills:?}");
    assert_eq!(left.tables, right.tables, "killed at {kills:?}");
    assert!(left == right, "killed at {kills:?}: another report");
}

/// Each step of each case ended, moved on and was decided once.
fn once(outcome: &Outcome) {
    let mut counts: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for event in &outcome.events {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        if event["type"] == "barrier" {
            let round = format!("{}/{}/{}", event["wave"], event["phase"], event["turn"]);
            *counts.entry((String::new(), round, "barrier".to_owned())).or_default() += 1;
            continue;
        }
        *counts.entry((text("case"), text("path"), text("type"))).or_default() += 1;
    }
    for (what, count) in &counts {
        assert_eq!(*count, 1, "{what:?}");
    }
    let steps = |case: &str| counts.keys().filter(|(of, _, what)| of == case && what == "node_exit").count();
    assert_eq!((steps("a"), steps("b")), (6, 8));
}

/// How many boundaries the undisturbed run has.
fn boundaries() -> u64 {
    let project = Project::new();
    small(&project);
    let (mut low, mut high) = (1, 200);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        std::fs::remove_dir_all(project.root().join(".asterisk")).unwrap_or_default();
        match halted(&project, &RUN, middle) {
            Ok(child) => {
                kill(child);
                low = middle;
            }
            Err(_) => high = middle,
        }
    }
    low
}

#[test]
fn a_run_survives_a_kill_at_every_boundary() {
    let (run, expected) = undisturbed();
    once(&expected);
    let last = boundaries();
    // The beginning, 14 steps, 2 barriers and the end: three boundaries each.
    assert_eq!(last, 3 * 18);
    let all: Vec<u64> = (1..=last).step_by(stride()).collect();
    std::thread::scope(|scope| {
        for lane in 0..2 {
            let (all, run, expected) = (&all, &run, &expected);
            scope.spawn(move || {
                for at in all.iter().skip(lane).step_by(2) {
                    same(&disturbed(run, &[*at]), expected, &[*at]);
                }
            });
        }
    });
}

/// Whatever the process is doing: reading, walking on two threads, writing files.
#[test]
fn a_run_survives_being_killed_at_any_time() {
    let rounds: u32 = if full_size() { 12 } else { 5 };
    let alone = Project::new();
    let began = Instant::now();
    let expected = alone.asterisk(&["run", "--parallel", "2", "--format", "json"]).ok();
    // As long as this machine takes with all else that it has to do.
    let whole = began.elapsed();
    let run = expected.json()["run"].as_str().unwrap().to_owned();
    let project = Project::new();
    let resume = ["run", "--resume", &run, "--parallel", "2", "--format", "json"];
    for round in 0..rounds {
        let known = project.asterisk(&["status", &run, "--format", "json"]).code == Some(0);
        let mut child =
            if known { project.start(&resume) } else { project.start(&["run", "--parallel", "2", "--format", "json"]) };
        // Anywhere in the run, in no order.
        std::thread::sleep(whole * (1 + round * 7 % rounds) / (rounds + 1));
        if child.try_wait().unwrap().is_none() {
            kill(child);
        }
    }
    let known = project.asterisk(&["status", &run, "--format", "json"]).code == Some(0);
    let ran = if known { project.asterisk(&resume) } else { project.asterisk(&["run", "--parallel", "2", "--format", "json"]) };
    assert_eq!(ran.ok().text(), expected.text());
    let rca = format!(".asterisk/investigations/{run}/rca.json");
    assert_eq!(project.read(&rca), alone.read(&rca));
}
