//! Workers that pull steps over HTTP, against the same messages over a bare loopback connection.
//!
//! 200 workers, 5 000 steps of a pipeline with one node. A step takes two round trips and two commits: of its request and of itself.

mod harness;

use harness::Table;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Instant;

const WORKERS: usize = 200;
const STEPS: usize = 5000;
const PIPELINE: &str = "pipeline: one\nnodes:\n  - { name: look, schema: { found: bool } }\nedges:\n  - { id: E1, from: look, to: _done }\n\
                        start: look\ndone: _done\n";

/// A connection for POST requests.
struct Http(BufReader<TcpStream>, String);

impl Http {
    fn connect(at: &str) -> Self {
        let stream = TcpStream::connect(at).expect("a server");
        stream.set_nodelay(true).expect("a socket");
        Self(BufReader::new(stream), at.to_owned())
    }

    fn post(&mut self, body: &str) -> String {
        let (at, length) = (&self.1, body.len());
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2025-06-18\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(head.as_bytes()).expect("sent");
        receive(&mut self.0).expect("an answer")
    }

    fn call(&mut self, tool: &str, args: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": args } });
        let said: Value = serde_json::from_str(&self.post(&message.to_string())).expect("JSON");
        said["result"]["structuredContent"].clone()
    }
}

/// Reads the body of a message by its `Content-Length`.
fn receive(from: &mut impl std::io::BufRead) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(found) = line.strip_prefix("content-length:") {
            length = found.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

/// Echoes every request.
fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                drop(stream.set_nodelay(true));
                let mut stream = BufReader::new(stream);
                while let Some(body) = receive(&mut stream) {
                    let said = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                    if stream.get_mut().write_all(said.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    at
}

/// Runs all workers at once. Returns the steps of each worker, and the microseconds per step.
#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn all(at: &str, work: impl Fn(Http, usize) -> usize + Sync) -> (Vec<usize>, f64) {
    let began = Instant::now();
    let counts: Vec<usize> = thread::scope(|scope| {
        let start = |number| {
            let work = &work;
            scope.spawn(move || work(Http::connect(at), number))
        };
        let workers: Vec<_> = (0..WORKERS).map(start).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    });
    (counts, began.elapsed().as_secs_f64() * 1e6 / STEPS as f64)
}

fn worker(mut http: Http, number: usize) -> usize {
    let mut count = 0;
    loop {
        let step = http.call("get_next_step", &json!({ "worker": format!("w{number}") }));
        if step["done"] == true {
            return count;
        }
        if step["available"] == true {
            let answer = json!({ "dispatch_id": step["dispatch_id"], "ticket": step["ticket"], "artifact": { "found": true } });
            let told = http.call("submit_artifact", &answer);
            assert_eq!(told["accepted"], true, "{told}");
            count += 1;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a directory");
    let case = |number: usize| json!({ "id": format!("c{number}"), "name": format!("t{number}"), "status": "FAILED" });
    let launch = json!({ "run_id": "1", "name": "many", "failure_list": (0..STEPS).map(case).collect::<Vec<_>>() });
    for (name, text) in [("asterisk.yaml", String::new()), ("one.yaml", PIPELINE.to_owned()), ("launch.json", launch.to_string())]
    {
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    let mut server = Command::new(env!("CARGO_BIN_EXE_asterisk"))
        .args(["serve", "--mcp", "http", "--http", "127.0.0.1:0"])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a server");
    let mut line = String::new();
    BufReader::new(server.stderr.take().expect("its words")).read_line(&mut line).expect("a line");
    let at = line.trim().trim_start_matches("serving http://").trim_end_matches("/mcp").to_owned();
    let args = json!({ "pipeline": "one.yaml", "input": "launch.json", "parallel": WORKERS });
    assert_eq!(Http::connect(&at).call("start_run", &args)["cases"], STEPS);
    let (counts, ours) = all(&at, worker);
    assert_eq!(counts.iter().sum::<usize>(), STEPS, "none is lost, none doubled");
    let spread: BTreeMap<&str, usize> =
        BTreeMap::from([("fewest", *counts.iter().min().unwrap_or(&0)), ("most", *counts.iter().max().unwrap_or(&0))]);
    drop(server.kill());
    drop(server.wait());
    let text = "x".repeat(1500);
    let (_, floor) = all(&echo(), |mut http, _| {
        let trips = 2 * STEPS / WORKERS;
        (0..trips).map(|_| http.post(&text).len()).sum()
    });
    let mut table = Table::new("200 workers, 5000 steps over MCP/HTTP", "us/step");
    table.against("a step (floor: two round trips over the loopback)", ours, floor);
    table.plain("steps of the worker with the fewest", spread["fewest"] as f64);
    table.plain("steps of the worker with the most", spread["most"] as f64);
    table.finish()
}
