//! The `timeout` of a node stops its answerer: scripts, commands, models and agents behind files. `retry.on` sets whether another
//! attempt follows.

use crate::harness::{PATIENCE, Project, Ran, until};
use crate::signals::{Agent, artifact, put, signal, wrapped};
use crate::tools::is_running;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

const NODES: &str = "\
pipeline: p
nodes:
  - { name: slow, agent: agents/slow.rhai#answer, task: work, timeout: 2, retry: { attempts: 1, on: [timeout] }, after: [] }
done: _done
";

/// Never ends at the first attempt.
const SLOW: &str = "\
/// Counts for a long time, but once.
fn answer(params, vars) {
    let at = 0;
    while params.stage.attempt == 1 && at < 100000000 { at += 1; }
    #{ content: `attempt ${params.stage.attempt}` }
}
";

fn project(agents: &str, body: &str) -> Project {
    let project = Project::with(&[
        ("asterisk.yaml", &format!("scripts: scripts\npipelines: pipelines\nagents:\n  file: {{ poll: 40ms }}\n{agents}")),
        ("scripts/agents/slow.rhai", SLOW),
        ("pipelines/p.yaml", NODES),
    ]);
    let path = project.file("slow.sh", format!("#!/bin/sh\n{body}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    project
}

fn run(project: &Project, via: &str) -> Ran {
    let began = Instant::now();
    let ran = project.asterisk(&["run", "p", "--via", via, "--files", "always", "--format", "json"]);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    ran
}

fn events(project: &Project, ran: &Ran, kind: &str) -> Vec<Value> {
    let log = project.read(&format!(".asterisk/investigations/{}/events.jsonl", ran.json()["run"].as_str().unwrap()));
    let all = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| event["type"] == kind).collect()
}

/// The first attempt was late, and the second passed.
fn retried(project: &Project, ran: &Ran) -> Value {
    let retries = events(project, ran, "step_retry");
    assert_eq!((retries.len(), &retries[0]["reason"]), (1, &json!("timeout")), "{}", ran.text());
    retries[0].clone()
}

#[test]
fn a_script_is_stopped() {
    let project = project("", "");
    let nodes = NODES.replace("timeout: 2,", "timeout: 0.4,");
    project.file("pipelines/p.yaml", &nodes);
    let ran = run(&project, "script").exits(0);
    let message = "`slow` was not answered within its timeout of 0.4 s (pipelines/p.yaml:3)";
    assert_eq!(retried(&project, &ran)["message"], message);
    // Without a reason to retry, the stage fails.
    project.file("pipelines/p.yaml", nodes.replace("on: [timeout]", "on: [rejection]"));
    let ran = run(&project, "script").exits(4);
    let error = events(&project, &ran, "error");
    assert_eq!((&error[0]["reason"], &error[0]["attempts"]), (&json!("timeout"), &json!(1)));
    assert!(ran.stderr.contains("p.yaml:3"), "{}", ran.text());
}

#[test]
fn a_command_is_killed_with_what_it_started() {
    let body = "cat > /dev/null; if [ -e pids ]; then echo '{\"content\": \"done\"}'; exit; fi; echo $$ > pids; sleep 9999 & echo $! >> pids; wait";
    let project = project("  slow: { kind: exec, command: [./slow.sh], timeout: 600s }\n", body);
    let ran = run(&project, "slow").exits(0);
    let message = "`slow` was not answered within its timeout of 2 s (pipelines/p.yaml:3)";
    assert_eq!(retried(&project, &ran)["message"], message);
    assert_eq!(project.read("pids").lines().count(), 2);
    until(|| project.read("pids").lines().all(|pid| !is_running(pid)));
    assert_eq!(events(&project, &ran, "unanswered").len(), 1);
    let asked = events(&project, &ran, "asked");
    assert_ne!(asked[0]["id"], asked[1]["id"], "another attempt is another request");
}

#[test]
fn waiting_for_a_file_agent_times_out() {
    let project = project("", "");
    let agent = Agent::of(project.root(), |_, signal, before| {
        if before > 0 {
            put(&artifact(signal), wrapped(signal, &json!({ "content": "done" })));
        }
    });
    let ran = run(&project, "file").exits(0);
    retried(&project, &ran);
    let seen = agent.seen();
    assert_eq!(seen.len(), 2);
    let last = signal(&artifact(&seen[1]).with_file_name("signal.json")).unwrap();
    assert_eq!((&last["dispatch_id"], &last["status"]), (&seen[1]["dispatch_id"], &json!("complete")));
}

#[test]
fn waiting_for_a_model_times_out_without_asking_the_next() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!("  model: {{ kind: http, url: 'http://{}/v1', timeout: 600s }}\n", listener.local_addr().unwrap());
    let project = project(&model, "");
    project.file("pipelines/p.yaml", NODES.replace("attempts: 1", "attempts: 0"));
    let ran = run(&project, "model,script").exits(4);
    let error = events(&project, &ran, "error");
    assert_eq!((&error[0]["reason"], &error[0]["attempts"]), (&json!("timeout"), &json!(1)), "{}", ran.text());
    assert!(ran.stderr.contains("within its timeout of 2 s"), "{}", ran.text());
}
