//! Agents in another language answer the whole bundled launch over each transport, with the answers of the scripts.

use crate::harness::{Project, Ran};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// A Python, by the path of its program.
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn python() -> Option<&'static String> {
    static PYTHON: OnceLock<Option<String>> = OnceLock::new();
    PYTHON
        .get_or_init(|| {
            let named = std::env::var("ASTERISK_TEST_PYTHON").ok();
            let found = named.into_iter().chain(["python3".to_owned()]).find_map(|python| {
                let out = Command::new(python).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
                out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
            });
            if found.is_none() {
                eprintln!("SKIPPED: no Python is there (set ASTERISK_TEST_PYTHON, see .ci/run)");
            }
            found
        })
        .as_ref()
}

/// A project with the agent and its answers, and the scripted run from which they were taken.
fn project() -> (Project, Value) {
    let project = Project::new();
    let own = project.asterisk(&["run", "--store", "own.db", "--format", "json", "--files", "always"]).exits(0).json();
    let store = asterisk_store::Store::read_only(project.root().join("own.db")).unwrap();
    let events = project.read(&format!(".asterisk/investigations/{}/events.jsonl", own["run"].as_str().unwrap()));
    let mut answers: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in
        events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|event| event["type"] == "node_exit")
    {
        let hash: asterisk_base::model::Hash = serde_json::from_value(event["artifact"].clone()).unwrap();
        let key = format!("{}/{}", event["case"].as_str().unwrap(), event["node"].as_str().unwrap());
        answers.entry(key).or_default().push(serde_json::from_str(&store.blob(&hash).unwrap().unwrap()).unwrap());
    }
    drop(store);
    std::fs::remove_dir_all(project.root().join(".asterisk")).unwrap();
    project.file("answers.json", json!(answers).to_string());
    project.file("agent.py", include_str!("foreign_agent.py"));
    (project, own)
}

/// An agent at work, until it is dropped.
struct Agent(Child);

impl Agent {
    fn start(python: &str, project: &Project, args: &[&str]) -> Self {
        let mut command = Command::new(python);
        command.arg("agent.py").args(args).current_dir(project.root());
        Self(command.stdout(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn run(project: &Project, via: &str) -> Ran {
    project.asterisk(&["run", "--via", via, "--parallel", "4", "--format", "json"]).exits(0)
}

/// The cases went the same ways, and every step was answered by an agent.
fn same(project: &Project, own: &Value, theirs: &Ran) {
    let theirs = theirs.json();
    let cases = own["cases"].as_array().unwrap();
    assert!(cases.len() > 10);
    for (own, theirs) in cases.iter().zip(theirs["cases"].as_array().unwrap()) {
        assert_eq!((&own["case"], &own["edges"], &own["loops"]), (&theirs["case"], &theirs["edges"], &theirs["loops"]));
    }
    let events = project.read(&format!(".asterisk/investigations/{}/events.jsonl", theirs["run"].as_str().unwrap()));
    let count = |what: &str| events.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count("\"type\":\"asked\""), count("\"type\":\"node_exit\""));
    assert_eq!(count("\"type\":\"node_exit\""), cases.iter().map(|case| case["nodes"].as_array().unwrap().len()).sum::<usize>());
}

#[test]
fn a_command_answers_the_bundled_launch() {
    let Some(python) = python() else { return };
    let (project, own) = project();
    let agents = json!({ "agents": { "theirs": { "kind": "exec", "command": [python, "agent.py", "exec"], "concurrency": 2 } } });
    project.file("asterisk.yaml", agents.to_string());
    same(&project, &own, &run(&project, "theirs"));
}

#[test]
fn a_server_answers_the_bundled_launch() {
    let Some(python) = python() else { return };
    let (project, own) = project();
    let mut agent = Agent::start(python, &project, &["http"]);
    let mut port = String::new();
    BufReader::new(agent.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/v1", port.trim());
    project.file("asterisk.yaml", json!({ "agents": { "theirs": { "kind": "http", "url": url, "model": "any" } } }).to_string());
    let ran = run(&project, "theirs");
    same(&project, &own, &ran);
    assert_eq!(ran.json()["tokens"]["estimated"], false, "{}", ran.json()["tokens"]);
}

#[test]
fn an_agent_at_signal_files_answers_the_bundled_launch() {
    let Some(python) = python() else { return };
    let (project, own) = project();
    project.file("asterisk.yaml", "agents: { file: { poll: 100ms } }\n");
    let _agent = Agent::start(python, &project, &["file", "."]);
    same(&project, &own, &run(&project, "file"));
}

#[test]
fn agents_at_batches_answer_the_bundled_launch() {
    let Some(python) = python() else { return };
    let (project, own) = project();
    project.file("asterisk.yaml", "agents: { batch-file: { poll: 100ms } }\n");
    let _agents = ["ann", "bob"].map(|name| Agent::start(python, &project, &["batch", ".", name]));
    same(&project, &own, &run(&project, "batch-file"));
}
