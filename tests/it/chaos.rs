//! `kill -9` of the host at every moment between a prompt and its acknowledgement: nothing is lost, nothing that was acknowledged is requested
//! again, and the outcome is well defined, whatever servers and workers do.

use crate::harness::{PATIENCE, Project, Ran, TWO, stride, until};
use crate::mcp::{Net, Pipes, answer};
use crate::server::{Server, says, says_json};
use crate::signals::events;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Whether a run has begun.
fn known(project: &Project) -> bool {
    project.asterisk(&["status", "latest"]).code == Some(0)
}

/// The requests of a run that is over, as its steps name them: each was asked once and answered once.
#[track_caller]
fn once(project: &Project, ran: &Ran, steps: usize, at: u64) -> Vec<String> {
    let ids = |kind: &str, of: &dyn Fn(&Value) -> Value| {
        let mut ids: Vec<String> = events(project, ran, &[kind]).iter().map(|event| of(event).to_string()).collect();
        ids.sort();
        ids
    };
    let exits = ids("node_exit", &|event| event["agent"]["request"].clone());
    assert_eq!(exits.len(), steps, "killed at {at}");
    assert_eq!(ids("asked", &|event| event["id"].clone()), exits, "killed at {at}");
    exits
}

/// Does it for every boundary of transactions (at the usual size, for some), in this number of lanes, until one is beyond the last. Where that was.
fn at_every(lanes: usize, least: u64, killed: impl Fn(u64) -> bool + Sync) {
    let last = thread::scope(|scope| {
        let lane = |lane: usize| {
            let killed = &killed;
            move || (1..).skip(lane * stride()).step_by(lanes * stride()).find(|at| !killed(*at)).unwrap()
        };
        let lanes: Vec<_> = (0..lanes).map(|number| scope.spawn(lane(number))).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).min().unwrap()
    });
    assert!(last > least, "{last}");
}

pub(crate) fn completion(content: &str) -> String {
    says_json(&json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }))
}

pub(crate) fn behind(server: &Server, more: &str) -> Project {
    let entry = format!("agents:\n  model: {{ kind: http, url: '{}/v1', retry: {{ wait: 1ms }}{more} }}\n", server.url);
    Project::with(&[("two.yaml", TWO), ("asterisk.yaml", &entry)])
}

const MODEL: [&str; 8] = ["run", "two.yaml", "--input", "none", "--via", "model", "--format", "json"];

/// Servers that break off, send half, too much, nothing for too long, or the same twice.
#[test]
fn a_server_may_misbehave() {
    let good = completion("{\"found\": false}");
    let whole = completion("{\"found\": true}");
    let half = whole[..whole.len() - 20].to_owned();
    let twice = format!("{good}{good}");
    let huge = says("200 OK", "Content-Type: application/json\r\n", &" ".repeat(50 << 20));
    let garbage = says("200 OK", "", "\u{0}\u{1}<html>");
    let wrong = completion("{\"dispatch_id\": 7, \"data\": {\"found\": true}}");
    for (name, bad) in [
        ("nothing", ""),
        ("half", half.as_str()),
        ("huge", &huge),
        ("garbage", &garbage),
        ("wrong", &wrong),
        ("no HTTP", "hello\r\n\r\n"),
    ] {
        let server = Server::new(&[bad, &twice]);
        let project = behind(&server, "");
        let ran = project.asterisk(&MODEL);
        assert_eq!((ran.code, server.seen().len()), (Some(0), 2), "{name}: {}", ran.text());
        assert_eq!(ran.json()["cases"][0]["edges"], json!(["E2"]), "{name}");
    }
    // One that does not come to an end.
    let server = Server::answering(|_| {
        thread::sleep(Duration::from_secs(2));
        String::new()
    });
    let began = Instant::now();
    let ran =
        behind(&server, ", timeout: 300ms").asterisk(&["run", "two.yaml", "--input", "none", "--via", "model", "--budget", "1"]);
    assert!(ran.code == Some(4) && began.elapsed() < PATIENCE, "{}", ran.text());
}

/// What a worker came across.
#[derive(Default)]
struct Came {
    offered: Vec<i64>,
    accepted: Vec<i64>,
}

/// Starts or resumes the run and answers until it is over. Panics if the server is gone.
fn work(call: &mut dyn FnMut(&str, &Value) -> Value, begin: &Value, came: &Mutex<Came>) {
    let begun = call("start_run", begin);
    if begun["code"] == "over" {
        return;
    }
    assert!(begun["run"].is_string(), "{begun}");
    loop {
        let step = call("get_next_step", &json!({}));
        if step["done"] == true {
            assert!(step["error"].is_null(), "{step}");
            return;
        }
        if step["available"] == true {
            let id = step["dispatch_id"].as_i64().unwrap();
            came.lock().unwrap().offered.push(id);
            let reply = call("submit_artifact", &answer(&step, json!({ "found": true })));
            assert_eq!(reply["accepted"], true, "{reply}");
            came.lock().unwrap().accepted.push(id);
        }
    }
}

/// A server on pipes or the network with a worker, who says its process first.
fn serve(mut command: Command, http: bool, begin: Value, came: Arc<Mutex<Came>>) -> (u32, thread::JoinHandle<()>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let hand = thread::spawn(move || {
        if http {
            let net = Net::of(command);
            sender.send(net.child.id()).unwrap();
            let mut http = net.connect();
            work(&mut |tool, args| http.call(tool, args), &begin, &came);
        } else {
            command.stdin(std::process::Stdio::piped());
            let mut pipes = Pipes::of(command);
            sender.send(pipes.child.id()).unwrap();
            work(&mut |tool, args| pipes.call(tool, args), &begin, &came);
            pipes.end();
        }
    });
    (receiver.recv().unwrap(), hand)
}

fn served(at: u64, http: bool) -> bool {
    let project = Project::with(&[("two.yaml", TWO)]);
    let args: &[&str] = if http { &["serve", "--mcp", "http", "--http", "127.0.0.1:0"] } else { &["serve"] };
    let begin = json!({ "pipeline": "two.yaml", "input": "none" });
    let file = project.root().join("halted");
    let mut command = project.command(args);
    command.env("ASTERISK_HALT_AT", at.to_string()).env("ASTERISK_HALT_FILE", &file);
    let came: Arc<Mutex<Came>> = Arc::default();
    let (pid, hand) = serve(command, http, begin.clone(), Arc::clone(&came));
    let stands = || std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'));
    until(|| stands() || hand.is_finished());
    if !stands() {
        hand.join().unwrap();
        return false;
    }
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    drop(hand.join());
    let before = std::mem::take(&mut *came.lock().unwrap());
    let run = known(&project).then(|| project.asterisk(&["status", "latest", "--format", "json"]).json()["run"].clone());
    let again = run.map_or(begin, |run| json!({ "resume": run }));
    let (_, hand) = serve(project.command(args), http, again, Arc::clone(&came));
    hand.join().unwrap();
    let after = came.lock().unwrap();
    assert!(after.offered.iter().all(|id| !before.accepted.contains(id)), "killed at {at}: {:?} again", before.accepted);
    let steps = once(&project, &project.asterisk(&["status", "latest", "--format", "json"]), 2, at);
    let mut all: Vec<String> = before.offered.iter().chain(&after.offered).map(i64::to_string).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), steps.len(), "killed at {at}: {all:?}");
    true
}

#[test]
fn workers_survive_their_host() {
    // The host does the same over pipes and over the network; only the transport differs.
    at_every(2, 15, |at| served(at, at.is_multiple_of(2)));
}

/// Workers who send rubbish, too much, half, or everything twice.
#[test]
fn a_worker_may_misbehave() {
    let project = Project::with(&[("two.yaml", TWO)]);
    let mut pipes = Pipes::start(&project, &[]);
    pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    let mine = crate::mcp::step(&mut pipes);
    for (args, wanted) in [
        (json!({}), "arguments"),
        (json!({ "dispatch_id": "x", "ticket": 1, "artifact": null }), "arguments"),
        (json!({ "dispatch_id": 1000, "ticket": mine["ticket"], "artifact": {} }), "unknown_id"),
        (answer(&mine, json!("{\"found\": tr")), "artifact"),
        (answer(&mine, json!([1])), "artifact"),
        (answer(&mine, json!({ "dispatch_id": 5, "data": { "found": true } })), "stale"),
    ] {
        assert_eq!(pipes.call("submit_artifact", &args)["code"], wanted, "{args}");
    }
    // Invalid lines, and then a message.
    writeln!(pipes.to.as_mut().unwrap(), "{{\"jsonrpc\": \"2.0\", \"id\":").unwrap();
    writeln!(pipes.to.as_mut().unwrap(), "hello").unwrap();
    assert_eq!(pipes.call("submit_artifact", &answer(&mine, json!({ "found": false })))["accepted"], true);
    let twice = pipes.call("submit_artifact", &answer(&mine, json!({ "found": false })));
    assert!(twice["code"] == "already_submitted" || twice["code"] == "unknown_id" || twice["code"] == "aborted", "{twice}");
    assert_eq!(pipes.call("get_next_step", &json!({}))["done"], true);
    pipes.end();
    // A message of 50 MB ends the connection, and the run can be resumed.
    let mut pipes = Pipes::start(&project, &[]);
    let begun = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    let mine = crate::mcp::step(&mut pipes);
    let huge = json!({ "jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": { "name": "submit_artifact", "arguments": answer(&mine, json!({ "found": true, "why": "x".repeat(50 << 20) })) } });
    drop(writeln!(pipes.to.as_mut().unwrap(), "{huge}"));
    pipes.to = None;
    pipes.child.wait().unwrap();
    let state = project.asterisk(&["status", begun["run"].as_str().unwrap(), "--format", "json"]).exits(0).json();
    assert_eq!(state["status"], "paused", "{state}");
    let mut pipes = Pipes::start(&project, &[]);
    pipes.call("start_run", &json!({ "resume": begun["run"] }));
    assert_eq!(crate::mcp::step(&mut pipes)["dispatch_id"], mine["dispatch_id"]);
    pipes.end();
}
