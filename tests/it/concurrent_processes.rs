//! Two processes on one store: nothing is lost, a run is executed by one of them, and a store that stays locked is reported.

use crate::harness::{Project, Ran};
use crate::kill::{halted, kill, small};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A launch of many cases.
fn many(name: &str, cases: usize) -> String {
    let case = |n: usize| json!({ "id": format!("{name}-{n}"), "name": format!("test {n}"), "status": "FAILED", "error_message": format!("e{n}") });
    json!({ "run_id": name, "name": name, "failure_list": (0..cases).map(case).collect::<Vec<Value>>() }).to_string()
}

/// The arguments that walk it.
fn walk(name: &str) -> Vec<String> {
    let words = format!("run --input {name}.json --stub stub.json --parallel 2 --durability batch --files never --format json");
    words.split(' ').map(str::to_owned).collect()
}

fn project() -> Project {
    let project = Project::new();
    small(&project);
    project.file("left.json", many("left", 60));
    project.file("right.json", many("right", 60));
    project
}

#[test]
fn two_concurrent_runs_lose_nothing() {
    let alone = |name: &str| project().asterisk(&walk(name)).ok().text();
    let project = project();
    let (left, right) = (project.start(&walk("left")), project.start(&walk("right")));
    let ended = [left, right].map(|child| project.ran(&child.wait_with_output().unwrap()).ok());
    assert_eq!(ended.each_ref().map(Ran::text), [alone("left"), alone("right")]);
    let runs = project.asterisk(&["status", "--format", "json"]).ok().json();
    for run in runs["runs"].as_array().unwrap() {
        assert_eq!((&run["status"], &run["cases"], &run["done"]), (&json!("done"), &json!(60), &json!(60)));
    }
    let conn = rusqlite::Connection::open(project.root().join(".asterisk/asterisk.db")).unwrap();
    let count = |what: &str| conn.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get::<_, i64>(0)).unwrap();
    // Six steps a case, each with four events, what masks did at four of them, verdict and root, and the walk's completion; of each run,
    // the barriers before two phases.
    assert_eq!(count("events"), 120 * (6 * 4 + 4 + 2 + 1) + 2 * 2);
    assert_eq!((count("triages"), count("case_symptoms"), count("rcas"), count("case_statuses")), (120, 120, 120, 360));
}

#[test]
fn the_same_launch_twice_concurrently_makes_two_runs() {
    let project = project();
    let [left, right] = [project.start(&walk("left")), project.start(&walk("left"))]
        .map(|child| project.ran(&child.wait_with_output().unwrap()).ok().json());
    assert_ne!(left["run"], right["run"]);
    assert_eq!(left["cases"], right["cases"]);
    assert_eq!(project.asterisk(&["status", "--format", "json"]).ok().json()["runs"].as_array().unwrap().len(), 2);
}

/// The first process halts between two transactions (boundary 4: before the first step's).
#[test]
fn a_run_that_is_being_executed_is_busy() {
    let project = project();
    let child = halted(&project, &["run", "--input", "launch.json", "--stub", "stub.json"], 4).unwrap();
    let runs = project.asterisk(&["status", "--format", "json"]).ok().json();
    let run = runs["runs"][0]["run"].as_str().unwrap().to_owned();
    assert_eq!(runs["runs"][0]["status"], "running");
    let refused = project.asterisk(&["run", "--resume", &run]).exits(6);
    assert!(refused.stderr.contains(&format!("run `{run}`")) && refused.stdout.is_empty(), "{}", refused.text());
    // Other runs, and inspecting this one, continue in parallel.
    project.asterisk(&["run", "--input", "none", "--stub", "stub.json", "--format", "json"]).ok();
    project.asterisk(&["status", &run, "--format", "json"]).ok();
    kill(child);
    project.asterisk(&["run", "--resume", &run, "--format", "json"]).ok();
}

/// The first process halts inside a transaction (boundary 5: before the first step's commit).
#[test]
fn a_store_that_stays_locked_is_busy() {
    let project = project();
    let child = halted(&project, &["run", "--input", "launch.json", "--stub", "stub.json"], 5).unwrap();
    let began = Instant::now();
    let refused = project.asterisk(&["run", "--input", "none", "--stub", "stub.json"]).exits(6);
    assert!(refused.stderr.contains("the store is in use by another process") && refused.stdout.is_empty(), "{}", refused.text());
    assert!(began.elapsed() > Duration::from_secs(2), "it did not wait for the other");
    // Reading is not in the way of writing.
    assert_eq!(project.asterisk(&["status", "--format", "json"]).ok().json()["runs"].as_array().unwrap().len(), 1);
    kill(child);
    project.asterisk(&["run", "--input", "none", "--stub", "stub.json"]).ok();
}
