//! The memory of scripts is limited wherever they run, and a process whose allocation fails loses no more than its
//! current step.

use crate::harness::Project;
use crate::kill::Outcome;
use serde_json::{Value, json};

/// A rule that holds about `weight` MiB while it decides.
const WEIGHS: &str = "\
/// Whether it was found.
fn found(artifact, state, vars) {
    let text = \"x\";
    for i in 0..19 { text += text; }
    let held = [];
    held.pad(artifact.weight, 0);
    for i in 0..artifact.weight { held[i] = text + `${i}`; }
    artifact.found
}
";

const PIPELINE: &str = "\
pipeline: heavy
nodes:
  - name: look
    code: T1
    schema: { found: bool, weight: int }
  - name: close
edges:
  - { id: E1, from: look, to: close, rule: \"rules/weighs.rhai#found\" }
  - { id: E2, from: look, to: _done, condition: \"!found\" }
  - { id: E3, from: close, to: _done }
start: look
done: _done
";

const RUN: [&str; 14] = [
    "run",
    "heavy.yaml",
    "--scripts",
    "scripts",
    "--input",
    "launch.json",
    "--stub",
    "stub.json",
    "--parallel",
    "1",
    "--files",
    "always",
    "--format",
    "json",
];

/// A project with six cases, of which the fourth holds that much.
fn heavy(weight: u64) -> Project {
    let case =
        |at: u64| json!({ "id": format!("c{at}"), "name": format!("case {at}"), "status": "FAILED", "error_message": "no" });
    let launch = json!({ "run_id": "7", "name": "small", "failure_list": (0..6).map(case).collect::<Vec<_>>() });
    let answers = |weight: u64| json!({ "look": [{ "found": true, "weight": weight }], "close": [{}] });
    let stub = json!({ "*": answers(0), "c3": answers(weight) });
    Project::with(&[
        ("heavy.yaml", PIPELINE),
        ("scripts/rules/weighs.rhai", WEIGHS),
        ("launch.json", &launch.to_string()),
        ("stub.json", &stub.to_string()),
    ])
}

#[test]
fn a_case_whose_rule_exceeds_memory_fails_alone() {
    let project = heavy(200);
    let ran = project.asterisk(&RUN);
    assert!(ran.stderr.contains("the script holds more than 64 MiB of memory"), "{}", ran.text());
    let ended: Vec<Value> = ran.json()["cases"].as_array().unwrap().iter().map(|case| case["status"].clone()).collect();
    assert_eq!(json!(ended), json!(["done", "done", "done", "error", "done", "done"]));
}

#[test]
fn a_test_has_the_memory_limit_of_a_call() {
    let test = format!(
        "{WEIGHS}
fn test_fits() {{ assert(found(#{{ found: true, weight: 1 }}, (), ())); }}
fn test_does_not() {{ assert(found(#{{ found: true, weight: 200 }}, (), ())); }}
fn test_asks_a_rule() {{
    let artifact = #{{ found: true, weight: 200 }};
    assert_throws(|| verdict(\"rules/weighs.rhai#found\", #{{ artifact: artifact }}));
}}
fn test_after_them() {{ assert(found(#{{ found: true, weight: 1 }}, (), ())); }}
"
    );
    let project = Project::with(&[("scripts/rules/weighs.rhai", WEIGHS), ("scripts/rules/weighs_test.rhai", &test)]);
    let ran = project.asterisk(&["test", "--scripts", "scripts", "rules/weighs_test.rhai"]).exits(1);
    assert_eq!(ran.text().matches("the script holds more than 64 MiB of memory").count(), 2, "{}", ran.text());
    assert!(ran.text().contains("2 passed"), "{}", ran.text());
}

/// Runs under a limit on the memory of the process, set by the shell.
#[cfg(target_os = "linux")]
fn limited(project: &Project, megabytes: u64) -> crate::harness::Ran {
    let asterisk = project.command(&RUN);
    let mut shell = std::process::Command::new("sh");
    let limits = format!("ulimit -c 0; ulimit -v {} && exec \"$0\" \"$@\"", megabytes << 10);
    shell.args(["-c", &limits]).arg(asterisk.get_program()).args(asterisk.get_args());
    shell.current_dir(project.root()).env_clear().env("PATH", "/usr/bin:/bin");
    shell.envs(asterisk.get_envs().filter_map(|(name, value)| Some((name, value?))));
    project.ran(&shell.output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_refused_allocation_ends_the_process_and_the_run_goes_on() {
    let project = heavy(50);
    let forget = || std::fs::remove_dir_all(project.root().join(".asterisk")).unwrap_or_default();
    // The memory that the program itself needs differs between machines: the first limit that lets the run begin, and
    // refuses what the fourth case asks for, will do.
    let refused = (6..60).map(|tens| tens * 10).find_map(|megabytes| {
        forget();
        let ran = limited(&project, megabytes);
        let runs = project.asterisk(&["status", "--format", "json"]);
        let begun = runs.code == Some(0) && runs.json()["runs"][0]["done"].as_u64().is_some_and(|done| done > 0);
        (ran.code.is_none() && begun).then(|| (ran, runs.json()["runs"][0].clone()))
    });
    let (ran, paused) = refused.expect("a limit under which the run begins and does not end");
    assert!(ran.stderr.contains("memory allocation of "), "{}", ran.text());
    let run = paused["run"].as_str().unwrap();
    assert_eq!(paused["status"], "paused");
    let doctor = project.asterisk(&["doctor", "--scripts", "scripts"]).text();
    assert!(doctor.contains(&format!("asterisk run --resume {run}")), "{doctor}");
    let said = project.asterisk(&["run", "--resume", "latest", "--parallel", "1", "--format", "json"]).ok();
    let resumed = Outcome::of(&project, said, run);
    let files = || project.tree().into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    let left = files();
    forget();
    let undisturbed = Outcome::of(&project, project.asterisk(&RUN).ok(), run);
    assert_eq!(resumed, undisturbed);
    assert_eq!(left, files());
}
