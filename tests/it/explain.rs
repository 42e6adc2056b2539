//! Explaining decisions: `explain`, `coverage` over history, and decisions kept as tests.

use crate::harness::{Project, Ran, strings, without_versions};
use std::process::Command;

/// Runs the program on a terminal of 80 columns.
fn narrow(project: &Project, line: &str) -> Ran {
    let args: Vec<&str> = line.split_whitespace().collect();
    project.call(&args).env("COLUMNS", "80").ran()
}

#[track_caller]
fn shows(project: &Project, name: &str, line: &str) -> Ran {
    let ran = narrow(project, line);
    for text in ran.stdout.lines() {
        assert!(line.contains("json") || line.contains("markdown") || text.chars().count() <= 80, "wider than 80: {text}");
    }
    insta::assert_snapshot!(format!("explain_{name}"), without_versions(&format!("$ asterisk {line}\n{}", ran.text())));
    ran
}

#[test]
fn the_bundled_launch_is_explained() {
    let project = Project::new();
    project.asterisk(&["run"]);
    shows(&project, "cases", "explain latest").exits(0);
    shows(&project, "case", "explain latest --case 880502").ok();
    shows(&project, "near_miss", "explain latest --case 880502 --step F3").ok();
    shows(&project, "short_circuit", "explain latest --case 880502 --step 1").ok();
    shows(&project, "markdown", "explain latest --case 880502 --step 1 --format markdown").ok();
    shows(&project, "json", "explain latest --case 880502 --step F6 --format json").ok();
    shows(&project, "blame", "explain latest --case 880502 --blame").ok();
    shows(&project, "blame_step", "explain latest --case 880502 --step F1 --blame").ok();
    shows(&project, "coverage", "coverage").ok();
    shows(&project, "unknown_case", "explain latest --case 88052").exits(2);
    shows(&project, "unknown_step", "explain latest --case 880502 --step triagee").exits(2);
    shows(&project, "unknown_path", "explain latest --case 880502 --step 9").exits(2);
    shows(&project, "step_of_which", "explain latest --step 1 --blame").exits(2);
    // An advisory fired for one case.
    let list = project.asterisk(&["explain", "latest", "--format", "json"]).json();
    let spoke = list["cases"].as_array().unwrap().iter().find(|case| {
        let id = case["case"].as_str().unwrap();
        let reported = project.asterisk(&["explain", "latest", "--case", id, "--format", "json"]).ok().json();
        reported["steps"][1]["edges"].as_array().unwrap().iter().any(|edge| edge["outcome"] == "advisory")
    });
    let id = spoke.expect("an advisory")["case"].as_str().unwrap().to_owned();
    shows(&project, "advisory", &format!("explain latest --case {id} --step F1")).ok();
}

const RULES: &str = "/// Enough was found.
///
/// Of at least one kind.
fn enough(artifact, state, vars) {
    let found = artifact.hits.filter(|hit| hit.score >= vars.sure);
    if artifact.label == \"none\" { return false; }
    found.len() > 1 && found.any(|hit| hit.kind == \"log\")
}

/// Something is odd.
fn odd(artifact, state, vars) {
    if artifact.label != \"odd\" { return; }
    #{ because: \"the label is odd\", context: #{ seen: artifact.label } }
}

/// Fails on every label but a number.
fn broken(artifact, state, vars) { parse_int(artifact.label) > 3 }

fn stop(artifact, state, vars) { state.steps >= 2 }
";

const PIPELINE: &str = "pipeline: door
vars: { sure: 0.7 }
on_rule_error: skip
nodes:
  - name: look
    code: L
    schema: { label: string, confidence: number, hits: [ { kind: string, score: number } ] }
    fallback: ask
  - name: ask
    schema: { label: string }
edges:
  - { id: E1, name: enough, from: look, to: ask, rule: \"rules/door.rhai#enough\" }
  - { id: A1, from: look, advisory: true, rule: \"rules/door.rhai#odd\" }
  - { id: E2, from: look, to: ask, rule: \"rules/door.rhai#broken\" }
  - { id: E3, from: look, to: ask, condition: \"confidence >= vars.sure && label.len() > 2\" }
  - { id: E4, from: ask, to: look, condition: 'label == \"again\"' }
  - { id: E5, from: ask, to: _done }
  - { id: G1, name: enough-steps, from: \"*\", to: _done, rule: \"rules/door.rhai#stop\" }
start: look
done: _done
";

const ANSWERS: &str = r#"{"*": {
    "look": [
        {"label": "odd", "confidence": 0.62, "hits": [{"kind": "log", "score": 0.9}, {"kind": "test", "score": 0.65}]},
        {"label": "7", "confidence": 0.9, "hits": []}
    ],
    "ask": [{"label": "again"}, {"label": "x"}]
}}"#;

fn door() -> Project {
    let project = Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("scripts/rules/door.rhai", RULES),
        ("pipelines/door.yaml", PIPELINE),
        ("answers.json", ANSWERS),
    ]);
    project.asterisk(&["run", "door", "--input", "none", "--stub", "answers.json"]).exits(0);
    project
}

#[test]
fn every_outcome_is_explained() {
    let project = door();
    shows(&project, "door", "explain latest").ok();
    shows(&project, "door_step", "explain latest --step 1").ok();
    shows(&project, "door_guard", "explain latest --step 3").ok();
    shows(&project, "door_blame", "explain latest --step 1 --blame").ok();
    shows(&project, "door_coverage", "coverage").ok();
    shows(&project, "visits", "explain latest --step L --format json").ok();
}

#[test]
fn sources_changed_since_the_run_are_reported_and_not_used() {
    let project = door();
    let before = narrow(&project, "explain latest --step 1").ok().stdout;
    project.file("scripts/rules/door.rhai", RULES.replace("> 1 &&", "> 0 &&").replace("\"odd\"", "\"even\""));
    let after = shows(&project, "changed", "explain latest --step 1").ok().stdout;
    assert!(after.contains("changed since") && !before.contains("changed since"));
    let reported = narrow(&project, "explain latest --step 1 --format json").ok().json();
    assert_eq!(strings(&reported["changed"]), ["scripts/rules/door.rhai"]);
    assert!(reported["steps"][0]["edges"][0]["rule"]["changed"] == true && reported["steps"][0].get("differs").is_none());
    assert!(narrow(&project, "explain latest --step 3 --blame").ok().stdout.contains("has changed since"));
    // Current sources that cannot be read do not affect the record.
    project.file("scripts/rules/door.rhai", "fn (");
    narrow(&project, "explain latest").ok();
    narrow(&project, "coverage").ok();
}

#[test]
fn a_walk_that_failed_is_explained() {
    let project = door();
    project.file("pipelines/door.yaml", PIPELINE.replace("on_rule_error: skip", "on_rule_error: stop"));
    project.asterisk(&["run", "door", "--input", "none", "--stub", "answers.json"]).exits(4);
    shows(&project, "failed", "explain latest").ok();
    shows(&project, "failed_step", "explain latest --step look").ok();
    shows(&project, "failed_blame", "explain latest --blame").ok();
}

/// A checkout with fixed authors and dates.
fn git(project: &Project, days: i64, args: &[&str]) -> String {
    let at = format!("{} +0000", 1_770_000_000 + days * 86_400);
    let mut git = Command::new("git");
    git.arg("-C").arg(project.root()).args(["-c", "user.name=Ada Clock", "-c", "user.email=ada@example.com"]).args(args);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env("GIT_AUTHOR_DATE", &at).env("GIT_COMMITTER_DATE", &at);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn in_a_checkout_the_commit_is_shown() {
    let project = door();
    let in_path = |line: &str| {
        let args: Vec<&str> = line.split_whitespace().collect();
        let path = std::env::var_os("PATH").unwrap();
        project.call(&args).env("COLUMNS", "80").env("PATH", path).ran()
    };
    git(&project, 0, &["init", "-q", "-b", "main"]);
    let commit = |days: i64, rules: &str, subject: &str| {
        project.file("scripts/rules/door.rhai", rules);
        git(&project, days, &["add", "scripts", "pipelines"]);
        git(&project, days, &["commit", "-q", "-m", subject]);
    };
    commit(1, &RULES.replace("state.steps >= 2", "state.steps >= 9"), "Begin");
    commit(2, RULES, "Stop after two steps");
    commit(3, &format!("//! Rules of the door.\n\n{RULES}"), "Say what it is");
    // The run went by the second of them, and the file is another by now.
    let blamed = in_path("explain latest --step 3 --blame").ok();
    insta::assert_snapshot!("explain_blame_commit", blamed.text());
    let reported = in_path("explain latest --step 3 --blame --format json").ok().json();
    assert_eq!(reported["steps"][0]["committed"]["line"]["subject"], "Stop after two steps");
    assert_eq!(reported["steps"][0]["committed"]["version"]["subject"], "Stop after two steps");
    let other = in_path("explain latest --step 2 --blame --format json").ok().json();
    assert_eq!(other["steps"][0]["committed"]["line"]["subject"], "Begin");
    // A line that was never committed lacks a commit.
    project.file("scripts/rules/door.rhai", RULES.replace(">= 2", ">= 1"));
    project.asterisk(&["run", "door", "--input", "none", "--stub", "answers.json"]).exits(0);
    let reported = in_path("explain latest --step 2 --blame --format json").ok().json();
    assert_eq!(reported["steps"][0]["committed"]["note"], "this text was never committed");
}

#[test]
fn a_decision_is_kept_as_a_test() {
    let project = door();
    for (step, expected) in [("1", "fallback"), ("2", "E4"), ("3", "G1")] {
        let saved = narrow(&project, &format!("explain latest --step {step} --save-as-test kept_test.rhai")).exits(0);
        assert!(saved.stdout.contains(expected), "{}", saved.text());
    }
    insta::assert_snapshot!("explain_kept", project.read("kept_test.rhai"));
    project.asterisk(&["test", "kept_test.rhai"]).ok();
    assert!(project.asterisk(&["lint", "kept_test.rhai"]).exits(0).text().contains("nothing found"));
    // Without a name the test is saved next to the rule, and a name that exists gets a number.
    for _ in 0..2 {
        narrow(&project, "explain latest --step 3 --save-as-test").exits(0);
    }
    let text = project.read("scripts/rules/door_recorded_test.rhai");
    assert!(text.contains("fn test_look_takes_g1() {") && text.contains("fn test_look_takes_g1_2() {"), "{text}");
    project.asterisk(&["test"]).exits(0);
    // A threshold that moves over a recorded value is noticed.
    project.file("pipelines/door.yaml", PIPELINE.replace("sure: 0.7", "sure: 0.6"));
    let ran = project.asterisk(&["test", "kept_test.rhai"]).exits(1);
    assert!(ran.text().contains("test_look_takes_fallback"), "{}", ran.text());
    shows(&project, "kept_where", "explain latest --step 1 --save-as-test kept.rhai").exits(2);
    shows(&project, "kept_which", "explain latest --save-as-test").exits(2);
}

/// Every decision of the bundled launch makes a test that holds.
#[test]
fn decisions_of_the_bundled_launch_become_tests() {
    let project = Project::new();
    project.asterisk(&["run"]);
    for step in 1..=6 {
        for case in ["880304", "880502"] {
            narrow(&project, &format!("explain latest --case {case} --step {step} --save-as-test kept_test.rhai")).exits(0);
        }
    }
    insta::assert_snapshot!("explain_kept_bundled", project.read("kept_test.rhai"));
    let results = project.asterisk(&["test", "kept_test.rhai", "--format", "json"]).exits(0).json();
    assert_eq!(results["tests"].as_array().unwrap().len(), 12, "{results}");
    assert!(project.asterisk(&["lint", "kept_test.rhai"]).exits(0).text().contains("nothing found"));
}
