//! `--profile`: where the time of a command goes. Times differ from run to run; what is counted does not.

use crate::harness::Project;
use serde_json::Value;
use std::collections::BTreeSet;

/// The frames of a profile of that kind, by name.
fn names(profile: &Value, kind: &str) -> BTreeSet<String> {
    let frames = profile["frames"].as_array().unwrap().iter().filter(|frame| frame["kind"] == kind);
    frames.map(|frame| frame["name"].as_str().unwrap().to_owned()).collect()
}

fn read(project: &Project, file: &str) -> Value {
    serde_json::from_str(&project.read(file)).unwrap()
}

#[test]
fn a_run_shows_its_steps_queries_rules_and_functions() {
    let project = Project::new();
    let ran = project.asterisk(&["run", "--profile=run.json", "--format", "json"]).exits(0);
    for said in ["profile: ", "function", "line", "step recall"] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    let profile = read(&project, "run.json");
    assert!(names(&profile, "step").is_superset(&["recall", "triage", "review", "report"].map(str::to_owned).into()));
    for (kind, name) in [
        ("query", "symptoms.similar"),
        ("edge rule", "H2"),
        ("verdict rule", "V1"),
        ("root rule", "R1"),
        ("function", "gather"),
        ("commit", ""),
        ("evidence", ""),
    ] {
        assert!(names(&profile, kind).contains(name), "{kind} {name}: {:?}", names(&profile, kind));
    }
    assert!(!names(&profile, "signature").is_empty());
    let whole = profile["us"].as_u64().unwrap();
    let own: u64 = profile["frames"].as_array().unwrap().iter().map(|frame| frame["self"]["us"].as_u64().unwrap()).sum();
    let stacks: u64 = profile["stacks"].as_array().unwrap().iter().map(|stack| stack["us"].as_u64().unwrap()).sum();
    // Each is rounded down.
    assert!(own <= whole && stacks <= whole && whole > profile["script_us"].as_u64().unwrap());
    let gather = profile["frames"].as_array().unwrap().iter().find(|frame| frame["name"] == "gather").unwrap();
    assert_eq!((&gather["file"], gather["line"].as_u64() > Some(1)), (&Value::from("lib/evidence.rhai"), true));
    assert!(gather["total"]["operations"].as_u64() > gather["self"]["operations"].as_u64());
    // The page is next to the report.
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let page = project.read(&format!(".asterisk/investigations/{run}/profile.html"));
    assert!(page.contains("class=\"flame\"") && page.contains("lib/evidence.rhai#gather"));
    // The same decisions, with and without.
    let alone = ["run", "--parallel", "1", "--format", "json", "--store"];
    let without = project.asterisk(&[&alone[..], &["other.db"]].concat()).exits(0).json();
    let events = |run: &Value, store: &str| {
        let args = ["explain", run["run"].as_str().unwrap(), "--events=edge_evaluate", "--store", store];
        let lines = project.asterisk(&args).exits(0).json_lines();
        lines.into_iter().map(|line| line["considered"].clone()).collect::<Vec<_>>()
    };
    let with = project.asterisk(&[&alone[..], &["third.db", "--profile"]].concat()).exits(0).json();
    let decided = events(&with, "third.db");
    assert!(!decided.is_empty());
    assert_eq!(decided, events(&without, "other.db"));
}

#[test]
fn tests_replays_and_calibrations_have_profiles() {
    let project = Project::with(&[("small.yaml", crate::calibrate::SCENARIO)]);
    project.asterisk(&["test", "rules/rca_test.rhai", "--profile=tests.folded"]).exits(0);
    let folded = project.read("tests.folded");
    assert!(folded.lines().all(|line| line.rsplit_once(' ').is_some_and(|(_, us)| us.parse::<u64>().is_ok())), "{folded}");
    assert!(folded.lines().any(|line| line.starts_with("test ") && line.contains(";rules/rca.rhai#")), "{folded}");
    project.asterisk(&["calibrate", "small.yaml", "--profile=scenario.json"]).exits(1);
    assert!(names(&read(&project, "scenario.json"), "function").contains("triage"));
    project.asterisk(&["run"]).exits(0);
    project.asterisk(&["replay", "--set", "decide_floor=0.9", "--profile=replay.json"]).exits(0);
    assert!(!names(&read(&project, "replay.json"), "function").is_empty());
    // It is opened before the work begins.
    let refused = project.asterisk(&["test", "rules/rca_test.rhai", "--profile=tests.folded/p.html"]).exits(2);
    assert!(refused.stderr.contains("tests.folded") && refused.stdout.is_empty(), "{}", refused.text());
}
