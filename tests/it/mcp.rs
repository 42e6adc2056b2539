//! Workers over MCP: by hand-written messages over standard input and HTTP, and by a client of another language.

use crate::harness::{Project, TWO, in_time, stride, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

fn two() -> Project {
    Project::with(&[("two.yaml", TWO)])
}

/// A server on pipes, and a client that exchanges lines with it.
pub(crate) struct Pipes {
    pub(crate) child: Child,
    pub(crate) to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    count: u64,
    /// What each tool says that it gives back.
    gives: BTreeMap<String, Value>,
}

/// What of a value does not fit a schema, of the words that the tools' schemas are written in.
fn misfits(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (word, reply) in schema.as_object().unwrap() {
        match word.as_str() {
            "type" => {
                let types = reply.as_array().map_or_else(|| vec![reply.clone()], Clone::clone);
                let fits = |kind: &Value| match kind.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "null" => value.is_null(),
                    other => panic!("what is {other}?"),
                };
                if !types.iter().any(fits) {
                    found.push(format!("{at}: {value} is not of type {reply}"));
                }
            }
            "properties" => {
                for (key, part) in value.as_object().into_iter().flatten() {
                    match reply.get(key) {
                        Some(schema) => misfits(schema, part, &format!("{at}.{key}"), found),
                        None if schema["additionalProperties"] == false => found.push(format!("{at}: {key} is not described")),
                        None => {}
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    misfits(reply, item, &format!("{at}[{index}]"), found);
                }
            }
            "anyOf" => {
                let fits = |one: &Value| {
                    let mut found = Vec::new();
                    misfits(one, value, at, &mut found);
                    found.is_empty()
                };
                if !reply.as_array().unwrap().iter().any(fits) {
                    found.push(format!("{at}: {value} is none of {reply}"));
                }
            }
            "required" => {
                let lacks = |key: &&Value| value.get(key.as_str().unwrap()).is_none();
                found.extend(reply.as_array().unwrap().iter().filter(lacks).map(|key| format!("{at}: no {key}")));
            }
            "enum" if !reply.as_array().unwrap().contains(value) => found.push(format!("{at}: {value} is none of {reply}")),
            "minimum" if value.as_i64().is_some_and(|number| number < reply.as_i64().unwrap()) => {
                found.push(format!("{at}: {value} is too small"));
            }
            "enum" | "minimum" | "description" | "additionalProperties" => {}
            other => panic!("what is {other}?"),
        }
    }
}

impl Pipes {
    pub(crate) fn start(project: &Project, more: &[&str]) -> Self {
        Self::of(project.command(&[&["serve", "--mcp", "stdio"], more].concat()))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipes = Self { child, to, from, count: 0, gives: BTreeMap::new() };
        let client =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let reply = pipes.ask("initialize", &client);
        assert_eq!(reply["result"]["serverInfo"]["name"], "asterisk");
        pipes.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let reply = pipes.ask("tools/list", &json!({}));
        for tool in reply["result"]["tools"].as_array().unwrap() {
            pipes.gives.insert(tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone());
        }
        pipes
    }

    fn say(&mut self, message: &Value) {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{message}").unwrap();
        to.flush().unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.count += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.count, "method": method, "params": params }));
        self.count
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let reply = self.hear();
            if reply["id"] == id {
                return reply;
            }
        }
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has gone");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// What a tool says, whether it is an error or not. It fits what the tool says that it gives back.
    pub(crate) fn call(&mut self, tool: &str, args: &Value) -> Value {
        let reply = self.ask("tools/call", &json!({ "name": tool, "arguments": args }));
        let content = &reply["result"]["structuredContent"];
        assert!(content.is_object(), "{reply}");
        let mut found = Vec::new();
        misfits(&self.gives[tool], content, tool, &mut found);
        assert_eq!(found, Vec::<String>::new(), "{content}");
        content.clone()
    }

    /// Ends its input and waits for it. Returns its standard error.
    pub(crate) fn end(mut self) -> String {
        self.to = None;
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert!(self.child.wait().unwrap().success(), "{stderr}");
        stderr
    }
}

pub(crate) fn step(pipes: &mut Pipes) -> Value {
    let step = pipes.call("get_next_step", &json!({ "worker": "ann" }));
    assert_eq!(step["available"], true, "{step}");
    step
}

#[expect(clippy::needless_pass_by_value, reason = "it is made for this")]
pub(crate) fn answer(step: &Value, artifact: Value) -> Value {
    json!({ "dispatch_id": step["dispatch_id"], "ticket": step["ticket"], "artifact": artifact })
}

#[test]
fn a_worker_answers_step_by_step() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    assert_eq!(pipes.call("get_next_step", &json!({}))["code"], "no_session");
    let begun = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    assert_eq!((&begun["state"], &begun["cases"]), (&json!("running"), &json!(1)), "{begun}");
    let run = begun["run"].as_str().unwrap().to_owned();
    assert_eq!(pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }))["code"], "session_running");
    assert_eq!(pipes.call("get_next_step", &json!({ "session_id": "other" }))["code"], "no_session");
    let look = step(&mut pipes);
    assert_eq!((&look["step"], &look["case_id"]), (&json!("T1_LOOK"), &json!("case-1")));
    assert!(look["prompt"].as_str().unwrap().contains("\"found\": true or false"));
    // Another client lacks a ticket, and no other step is available.
    let nothing = pipes.call("get_next_step", &json!({ "worker": "bob", "timeout_ms": 50 }));
    assert_eq!((&nothing["done"], &nothing["available"]), (&json!(false), &json!(false)));
    assert_eq!(nothing["message"], "no step is ready yet: call get_next_step again");
    let stolen = json!({ "dispatch_id": look["dispatch_id"], "ticket": "0000", "artifact": { "found": true } });
    assert_eq!(pipes.call("submit_artifact", &stolen)["code"], "not_yours");
    let unknown = json!({ "dispatch_id": 7, "ticket": look["ticket"], "artifact": { "found": true } });
    assert_eq!(pipes.call("submit_artifact", &unknown)["code"], "unknown_id");
    for garbage in [json!("{\"found\": "), json!("[1]"), json!({ "dispatch_id": 7, "data": { "found": true } })] {
        let reply = pipes.call("submit_artifact", &answer(&look, garbage));
        assert!(["artifact", "stale"].contains(&reply["code"].as_str().unwrap()), "{reply}");
    }
    let deep = "{\"a\":".repeat(100) + "1" + "}".repeat(100).as_str();
    assert_eq!(pipes.call("submit_artifact", &answer(&look, json!(deep)))["code"], "artifact");
    // An invalid answer is returned with its errors, and the step again.
    let bad = pipes.call("submit_artifact", &answer(&look, json!({ "found": "very" })));
    let mut shown = bad.clone();
    for what in ["dispatch_id", "ticket", "prompt"] {
        shown["next"][what] = json!(format!("[{what}]"));
    }
    insta::assert_snapshot!("bad", pretty(&shown));
    assert!(bad["next"]["prompt"].as_str().unwrap().contains("was not accepted"));
    let good = answer(&bad["next"], json!({ "found": true, "by": "human" }));
    assert_eq!(pipes.call("submit_artifact", &good)["accepted"], true);
    assert_eq!(pipes.call("submit_artifact", &good)["code"], "already_submitted");
    let close = step(&mut pipes);
    assert_eq!(pipes.call("submit_artifact", &answer(&close, json!({})))["accepted"], true);
    assert_eq!(pipes.call("get_next_step", &json!({}))["done"], true);
    // Accepted answers are recorded with their worker.
    let report = pipes.call("get_report", &json!({ "format": "summary" }));
    assert_eq!(report["summary"]["cases"][0]["edges"], json!(["E1", "E3"]), "{report}");
    let artifact = format!("asterisk://runs/{run}/cases/case-1/artifact/1");
    let read = pipes.ask("resources/read", &json!({ "uri": artifact }));
    let artifact: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(artifact, json!({ "found": true, "by": "agent" }));
    let health = pipes.call("get_worker_health", &json!({}));
    assert_eq!((&health["workers"][0]["worker"], &health["workers"][0]["accepted"]), (&json!("ann"), &json!(2)), "{health}");
    assert_eq!(health["workers"][0]["refused"], 1);
    assert_eq!(pipes.end(), "");
    // It is recorded like any other.
    project.asterisk(&["explain", &run]).exits(0);
    assert_eq!(project.asterisk(&["replay", &run, "--format", "json"]).exits(0).json()["flips"], json!([]));
}

#[test]
fn what_a_server_offers() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    let tools = pipes.ask("tools/list", &json!({}));
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    insta::assert_snapshot!("tools", names.join("\n"));
    insta::assert_snapshot!("templates", pretty(&pipes.ask("resources/templates/list", &json!({}))["result"]));
    let prompt = pipes.ask("prompts/get", &json!({ "name": "worker", "arguments": { "session_id": "run-1" } }));
    insta::assert_snapshot!("worker", prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap());
    let route = pipes.call("route", &json!({ "pipeline": "two.yaml", "node": "T1", "artifact": { "found": true } }));
    assert_eq!((&route["edge"], &route["to"]), (&json!("E1"), &json!("close")), "{route}");
    let lint = pipes.call("lint_script", &json!({ "path": "rules/mine.rhai", "text": "fn f(a) { a + }" }));
    assert_eq!(lint["findings"][0]["severity"], "error", "{lint}");
    let fine = pipes.call("lint_script", &json!({ "path": "rules/rca.rhai" }));
    assert!(fine["findings"].is_array(), "{fine}");
    for (tool, args) in [
        ("explain", json!({})),
        ("replay", json!({})),
        ("route", json!({ "node": "nowhere" })),
        ("start_run", json!({ "input": "../../etc/passwd" })),
        ("start_run", json!({ "pipeline": "/etc/passwd" })),
        ("start_run", json!({ "via": "nobody" })),
        ("start_run", json!({ "paralel": 2 })),
    ] {
        let reply = pipes.call(tool, &args);
        assert!(reply["code"].is_string() && reply["message"].is_string(), "{tool}: {reply}");
    }
    assert!(
        pipes.ask("tools/call", &json!({ "name": "rm" }))["error"]["message"].as_str().unwrap().contains("unknown tool `rm`")
    );
    assert!(pipes.ask("resources/read", &json!({ "uri": "file:///etc/passwd" }))["error"].is_object());
    pipes.end();
}

/// What the tools say of themselves is all that a worker has to know, and every result fits the schema that goes with it.
#[test]
fn tools_declare_their_input_and_output() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    let listed = pipes.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let reply = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap()["description"].as_str().unwrap().to_owned();
    for tool in tools {
        assert_eq!(
            (&tool["outputSchema"]["type"], &tool["outputSchema"]["additionalProperties"]),
            (&json!("object"), &json!(false))
        );
    }
    let submit = reply("submit_artifact");
    let codes =
        ["complaints", "artifact", "capacity", "not_yours", "already_submitted", "unknown_id", "stale", "lost", "aborted"];
    assert_eq!(codes.iter().filter(|code| !submit.contains(&format!("`{code}`"))).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert!(submit.contains("JSON object") && submit.contains("ticket") && submit.contains("get_next_step"), "{submit}");
    let next = reply("get_next_step");
    assert!(next.contains("`available: false`") && next.contains("`done: true`") && next.contains("submit_artifact"), "{next}");
    assert!(reply("start_run").contains("get_next_step"));
    // Those results that the other tests do not see.
    let begun = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    let mine = step(&mut pipes);
    pipes.call("get_report", &json!({}));
    pipes.call("submit_artifact", &answer(&mine, json!({ "found": false })));
    assert_eq!(pipes.call("get_next_step", &json!({}))["message"], "the run is over: stop; get_report returns the report");
    for format in ["markdown", "json", "summary"] {
        pipes.call("get_report", &json!({ "format": format }));
    }
    for args in
        [json!({}), json!({ "case": "case-1" }), json!({ "case": "case-1", "step": "look" }), json!({ "run": begun["run"] })]
    {
        assert!(pipes.call("explain", &args)["code"].is_null());
    }
    assert_eq!(pipes.call("replay", &json!({ "runs": ["latest"] }))["decisions"], 1);
    pipes.call(
        "route",
        &json!({ "pipeline": "two.yaml", "node": "look", "artifact": { "found": true }, "state": { "steps": 1 } }),
    );
    pipes.end();
}

/// An invalid or too long message is answered as over HTTP, and the server continues.
#[test]
fn invalid_messages_are_reported_over_pipes() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    let mut reply = |line: &str| {
        let to = pipes.to.as_mut().unwrap();
        writeln!(to, "{line}").unwrap();
        to.flush().unwrap();
        let said = pipes.hear();
        assert_eq!(pipes.ask("ping", &json!({}))["result"], json!({}));
        (said["id"].clone(), said["error"]["code"].as_i64().unwrap())
    };
    assert_eq!(reply("{\"jsonrpc\": "), (Value::Null, -32700));
    assert_eq!(reply("[]"), (Value::Null, -32600));
    assert_eq!(reply("{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": {}}"), (json!(77), -32600));
    let long = json!({ "name": "submit_artifact", "arguments": { "artifact": "x".repeat(5 << 20) } });
    let call = format!("{{\"method\":\"tools/call\",\"params\":{long},\"jsonrpc\":\"2.0\",\"id\":78}}");
    assert_eq!(reply(&call), (json!(78), -32600));
    pipes.end();
}

#[test]
fn signals_are_delivered_in_order() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    assert_eq!(pipes.call("emit_signal", &json!({ "event": "", "agent": "ann" }))["code"], "arguments");
    assert_eq!(pipes.call("emit_signal", &json!({ "event": "seen", "agent": "" }))["code"], "arguments");
    assert_eq!(pipes.call("emit_signal", &json!({ "event": "seen", "agent": "ann", "meta": { "k": "v" } }))["index"], 1);
    let all = pipes.call("get_signals", &json!({}));
    assert_eq!(all["total"], 2);
    assert_eq!((&all["signals"][0]["event"], &all["signals"][1]["meta"]["k"]), (&json!("session_started"), &json!("v")));
    for (since, expected) in [(0, 2), (2, 0), (99, 0), (-1, 2)] {
        let found = pipes.call("get_signals", &json!({ "since": since }));
        assert_eq!(found["signals"].as_array().unwrap().len(), expected, "{since}");
    }
    pipes.end();
}

/// A launch of ReportPortal is started as `run --launch` does.
#[test]
fn a_launch_of_reportportal_is_started() {
    let server = crate::server::Server::answering(crate::reportportal::portal);
    let project = crate::reportportal::project(&server);
    project.file("two.yaml", TWO);
    let mut pipes = Pipes::start(&project, &[]);
    let both = pipes.call("start_run", &json!({ "launch": "7", "input": "none" }));
    assert_eq!(both["code"], "arguments", "{both}");
    let gone = pipes.call("start_run", &json!({ "launch": "8" }));
    assert!(gone["message"].as_str().unwrap().contains("unknown launch `8`"), "{gone}");
    let begun = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "launch": "7" }));
    assert_eq!(begun["cases"], 3, "{begun}");
    for _ in 0..3 {
        let mine = step(&mut pipes);
        assert_eq!(pipes.call("submit_artifact", &answer(&mine, json!({ "found": false })))["accepted"], true);
    }
    assert_eq!(pipes.call("get_next_step", &json!({}))["done"], true);
    pipes.end();
    let run = project.asterisk(&["status", "latest", "--format", "json"]).exits(0).json();
    assert_eq!((&run["run"], &run["status"]), (&begun["run"], &json!("done")));
}

/// The end of the input stops the run; another server resumes it, and the same request is repeated.
#[test]
fn a_run_outlives_its_server() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    let run = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }))["run"].as_str().unwrap().to_owned();
    let look = step(&mut pipes);
    pipes.end();
    assert_eq!(project.asterisk(&["status", "latest", "--format", "json"]).exits(0).json()["status"], "paused");
    let mut pipes = Pipes::start(&project, &[]);
    assert_eq!(pipes.call("start_run", &json!({ "resume": run }))["run"], json!(run));
    let again = step(&mut pipes);
    assert_eq!((&again["dispatch_id"], &again["prompt"]), (&look["dispatch_id"], &look["prompt"]));
    assert_eq!(pipes.call("submit_artifact", &answer(&look, json!({ "found": false })))["code"], "not_yours");
    assert_eq!(pipes.call("submit_artifact", &answer(&again, json!({ "found": false })))["accepted"], true);
    assert_eq!(pipes.call("get_next_step", &json!({}))["done"], true);
    assert_eq!(pipes.call("start_run", &json!({ "resume": run }))["code"], "over");
    pipes.end();
}

/// A host that is killed after it acknowledged an answer has it.
#[test]
fn acknowledged_steps_are_never_repeated() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    let run = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }))["run"].as_str().unwrap().to_owned();
    let look = step(&mut pipes);
    assert_eq!(pipes.call("submit_artifact", &answer(&look, json!({ "found": true })))["accepted"], true);
    pipes.child.kill().unwrap();
    pipes.child.wait().unwrap();
    let mut pipes = Pipes::start(&project, &[]);
    pipes.call("start_run", &json!({ "resume": run }));
    assert_eq!(step(&mut pipes)["node"], "close");
    pipes.end();
}

#[test]
fn inactivity_and_force_end_a_session() {
    let project = two();
    let (mut pipes, begun, look, idle) = in_time(400, |limit| {
        let idle = (Duration::from_millis(limit).as_secs_f64()).to_string();
        let mut pipes = Pipes::start(&project, &["--idle", &idle]);
        let begun = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
        let look = pipes.call("get_next_step", &json!({ "worker": "ann" }));
        (look["available"] == true).then_some((pipes, begun, look, idle))
    });
    // Without any message, waiting clients are informed.
    let mut over = json!({});
    until(|| {
        over = pipes.call("get_next_step", &json!({}));
        over["done"] == true
    });
    assert_eq!(over["error"], json!(format!("aborted: no client made contact for {idle} s")));
    let reply = pipes.call("submit_artifact", &answer(&look, json!({ "found": true })));
    assert_eq!(reply["code"], "aborted", "{reply}");
    until(|| pipes.call("get_worker_health", &json!({}))["state"] == "error");
    let report = pipes.call("get_report", &json!({ "format": "summary" }));
    assert_eq!(report["error"], json!(format!("no client made contact for {idle} s; it can be resumed")), "{report}");
    // Another one may be started then, and by force at any time.
    let next = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    assert_ne!(next["run"], begun["run"]);
    let forced = pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none", "force": true }));
    assert_eq!(forced["state"], "running", "{forced}");
    assert_eq!(pipes.call("get_next_step", &json!({ "session_id": next["run"] }))["code"], "no_session");
    pipes.end();
}

#[test]
fn steps_are_held_until_the_desired_capacity_is_reached() {
    let project = Project::with(&[("two.yaml", TWO), ("launch.json", &launch(3))]);
    let mut pipes = Pipes::start(&project, &[]);
    let args = json!({ "pipeline": "two.yaml", "input": "launch.json", "desired_capacity": 2 });
    pipes.call("start_run", &args);
    let first = step(&mut pipes);
    assert!(first["capacity_warning"].as_str().unwrap().starts_with("1 of 2"), "{first}");
    assert_eq!(pipes.call("submit_artifact", &answer(&first, json!({ "found": false })))["code"], "capacity");
    let second = pipes.call("get_next_step", &json!({ "worker": "bob" }));
    assert!(second["capacity_warning"].is_null(), "{second}");
    assert_eq!(pipes.call("submit_artifact", &answer(&first, json!({ "found": false })))["accepted"], true);
    assert_eq!(pipes.call("submit_artifact", &answer(&second, json!({ "found": false })))["accepted"], true);
    pipes.end();
}

/// A worker that takes too long loses its step to another, three times at most.
#[test]
fn a_lease_ends() {
    let project = two();
    // Pulls until the step is there, or the run is over.
    let pull = |pipes: &mut Pipes| {
        let mut reply = json!({});
        until(|| {
            reply = pipes.call("get_next_step", &json!({ "worker": "bob" }));
            reply["available"] == true || reply["done"] == true
        });
        reply
    };
    let mut pipes = in_time(300, |lease| {
        project.file("asterisk.yaml", format!("agents:\n  mcp: {{ kind: mcp, timeout: {lease}ms, retry: {{ attempts: 2 }} }}\n"));
        let mut pipes = Pipes::start(&project, &[]);
        pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
        let lost = step(&mut pipes);
        let again = pull(&mut pipes);
        let reply = pipes.call("submit_artifact", &answer(&lost, json!({ "found": false })));
        // Bob has it only as long as his lease.
        if reply["code"] != "not_yours" {
            return None;
        }
        assert_eq!(again["dispatch_id"], lost["dispatch_id"]);
        Some(pipes)
    });
    let over = pull(&mut pipes);
    assert_eq!(over["done"], true, "{over}");
    let report = pipes.call("get_report", &json!({ "format": "summary" }));
    assert_eq!(report["summary"]["cases"][0]["error"]["kind"], "agent_error", "{report}");
    pipes.end();
}

#[test]
fn a_request_can_be_cancelled() {
    let project = two();
    let mut pipes = Pipes::start(&project, &[]);
    pipes.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    let look = step(&mut pipes);
    let id =
        pipes.send("tools/call", &json!({ "name": "get_next_step", "arguments": { "worker": "bob", "timeout_ms": 60_000 } }));
    let state = |pipes: &mut Pipes| {
        let health = pipes.call("get_worker_health", &json!({}));
        let workers = health["workers"].as_array().unwrap().clone();
        workers.iter().find(|one| one["worker"] == "bob").map(|one| one["state"].as_str().unwrap().to_owned())
    };
    until(|| state(&mut pipes).as_deref() == Some("waiting"));
    pipes.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    until(|| state(&mut pipes).as_deref() == Some("idle"));
    // The next step goes to a waiting worker.
    assert_eq!(pipes.call("submit_artifact", &answer(&look, json!({ "found": true })))["accepted"], true);
    assert_eq!(step(&mut pipes)["node"], "close");
    pipes.end();
}

/// A launch with this number of cases.
fn launch(cases: usize) -> String {
    let case = |number: usize| json!({ "id": format!("c{number}"), "name": format!("test {number}"), "status": "FAILED", "error_message": format!("e{number}") });
    json!({ "run_id": "r", "name": "many", "failure_list": (0..cases).map(case).collect::<Vec<_>>() }).to_string()
}

/// A server on the network.
pub(crate) struct Net {
    pub(crate) child: Child,
    pub(crate) at: String,
}

impl Net {
    pub(crate) fn start(project: &Project, more: &[&str], token: Option<&str>) -> Self {
        let mut command = project.command(&[&["serve", "--mcp", "http", "--http", "127.0.0.1:0"], more].concat());
        if let Some(token) = token {
            command.env("ASTERISK_TOKEN", token);
        }
        Self::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        let at = line.trim().strip_prefix("serving http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let at = at.unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, at }
    }

    pub(crate) fn connect(&self) -> Http {
        let stream = TcpStream::connect(&self.at).unwrap();
        stream.set_nodelay(true).unwrap();
        Http { host: self.at.clone(), stream: BufReader::new(stream), token: None }
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A connection.
pub(crate) struct Http {
    host: String,
    stream: BufReader<TcpStream>,
    pub(crate) token: Option<String>,
}

impl Http {
    /// Posts a body with these headers; status and body of the answer.
    pub(crate) fn post(&mut self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut all: BTreeMap<&str, &str> = BTreeMap::from([
            ("Host", &*self.host),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ]);
        all.extend(headers.iter().copied());
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        if let Some(bearer) = &bearer {
            all.insert("Authorization", bearer);
        }
        let head: Vec<String> = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = head.concat();
        let request = format!("POST /mcp HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
        // A client that is refused early may find the pipe closed.
        drop(self.stream.get_mut().write_all(request.as_bytes()));
        self.answer()
    }

    fn answer(&mut self) -> (u16, String) {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status =
            line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("no answer: {line:?}"));
        let (mut length, mut chunked) = (0, false);
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim().to_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(found) = line.strip_prefix("content-length:") {
                length = found.trim().parse().unwrap();
            }
            chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line).unwrap();
                let size = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk).unwrap();
                if size == 0 {
                    break;
                }
                body.extend(&chunk[..size]);
            }
        } else {
            body.resize(length, 0);
            self.stream.read_exact(&mut body).unwrap();
        }
        (status, String::from_utf8(body).unwrap())
    }

    pub(crate) fn call(&mut self, tool: &str, args: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": args } });
        let (status, body) = self.post(&[("MCP-Protocol-Version", "2025-06-18")], &message.to_string());
        assert_eq!(status, 200, "{body}");
        let body =
            body.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|data| !data.trim().is_empty()).unwrap_or(&body);
        let reply: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert!(reply["result"]["structuredContent"].is_object(), "{reply}");
        reply["result"]["structuredContent"].clone()
    }
}

#[test]
fn network_access_requires_a_token() {
    const SECRET: &str = "a-secret-of-some-length-5711";
    let project = two();
    let net = Net::start(&project, &[], Some(SECRET));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let status = |token: Option<&str>, headers: &[(&str, &str)], body: &str| {
        let mut http = net.connect();
        http.token = token.map(str::to_owned);
        http.post(headers, body).0
    };
    assert_eq!(status(None, &[], &list), 401);
    assert_eq!(status(Some("another-secret-of-length"), &[], &list), 401);
    assert_eq!(status(Some(SECRET), &[], &list), 200);
    assert_eq!(status(Some(SECRET), &[("Host", "evil.example.com")], &list), 403);
    // A second host, as from a proxy; header names ignore case.
    assert_eq!(status(Some(SECRET), &[("host", "evil.example.com")], &list), 400);
    assert_eq!(status(None, &[("host", "evil.example.com")], &list), 401, "the token comes first");
    assert_eq!(status(Some(SECRET), &[("Origin", "https://evil.example.com")], &list), 403);
    assert_eq!(status(Some(SECRET), &[("Origin", "http://localhost:3000")], &list), 200);
    assert!([400, 415].contains(&status(Some(SECRET), &[], "{\"jsonrpc\"")));
    assert_eq!(status(Some(SECRET), &[], &" ".repeat((4 << 20) + 1)), 413);
    // The secret is nowhere to be found.
    let mut http = net.connect();
    http.token = Some(SECRET.into());
    let mut said = http.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" })).to_string();
    let step = http.call("get_next_step", &json!({}));
    said += &http.call("submit_artifact", &answer(&step, json!({ "found": false }))).to_string();
    assert_eq!(http.call("get_next_step", &json!({}))["done"], true);
    for (tool, args) in
        [("get_report", json!({ "format": "json" })), ("explain", json!({ "case": "case-1" })), ("get_signals", json!({}))]
    {
        said += &http.call(tool, &args).to_string();
    }
    said += &step.to_string();
    assert!(!said.contains(SECRET));
    drop(net);
    // Without a token, requests are rejected.
    insta::assert_snapshot!("open", project.asterisk(&["serve", "--mcp", "http", "--http", "0.0.0.0:0"]).exits(2).stderr);
    let file = project.file("token", SECRET);
    let exposed = project.asterisk(&["serve", "--mcp", "http", "--token-file", "token"]).exits(2);
    assert!(exposed.stderr.contains("is readable by others"), "{}", exposed.stderr);
    std::fs::write(&file, "short").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    insta::assert_snapshot!("short", project.asterisk(&["serve", "--mcp", "http", "--token-file", "token"]).exits(2).stderr);
}

/// Who comes when there are enough waits until one of them is done; those that do nothing give way.
#[test]
fn connections_are_counted() {
    let project = two();
    let net = Net::start(&project, &["--connections", "2"], None);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let (mut one, two) = (net.connect(), net.connect());
    one.call("start_run", &json!({ "pipeline": "two.yaml", "input": "none" }));
    one.call("get_next_step", &json!({ "worker": "ann" }));
    // Both wait for a step that does not come.
    let pull = |mut http: Http, worker: &'static str| {
        std::thread::spawn(move || (http.call("get_next_step", &json!({ "worker": worker, "timeout_ms": 1500 })), http))
    };
    let waits = pull(two, "bob");
    crate::harness::until(|| {
        one.call("get_worker_health", &json!({})).to_string().contains("\"state\":\"waiting\"") || waits.is_finished()
    });
    let more = pull(one, "cid");
    assert_eq!(net.connect().post(&[], &list).0, 200);
    assert!(waits.is_finished() || more.is_finished(), "it was accepted while both were working");
}

/// Idle connections do not block clients with the token; nor does one address block others.
#[test]
fn idle_connections_do_not_block_others() {
    const SECRET: &str = "a-secret-of-some-length-5711";
    let project = two();
    let net = Net::start(&project, &["--connections", "4"], Some(SECRET));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let mut idle: Vec<Http> = (0..4).map(|_| net.connect()).collect();
    assert_eq!(idle[0].post(&[], &list).0, 401);
    // Connections without a token are closed.
    let mut rest = String::new();
    assert_eq!(idle[0].stream.read_to_string(&mut rest).unwrap(), 0);
    let mut http = net.connect();
    http.token = Some(SECRET.into());
    let began = Instant::now();
    for _ in 0..4 {
        idle.push(net.connect());
    }
    assert_eq!(http.post(&[], &list).0, 200);
    assert!(began.elapsed() < Duration::from_secs(9), "before the idle connections time out");
    drop(net);
    let net = Net::start(&project, &["--connections-per-peer", "1"], None);
    let (mut one, mut two) = (net.connect(), net.connect());
    assert_eq!(two.post(&[], &list).0, 200, "the idle one gives way");
    assert!(one.stream.read_to_string(&mut rest).is_err() || rest.is_empty());
}

/// The lint settings of the project apply over MCP too.
#[test]
fn scripts_are_linted_with_the_project_settings() {
    let lint = json!({ "path": "rules/new.rhai", "text": "fn f(artifact, state, vars) { let unused = 1; artifact.x }" });
    let found = |settings: &str| {
        let project = two();
        project.file("asterisk.yaml", settings);
        let mut pipes = Pipes::start(&project, &[]);
        let reply = pipes.call("lint_script", &lint);
        pipes.end();
        reply["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(""), ["robustness/unused-variable"]);
    assert!(found("lint: { levels: { robustness/unused-variable: off } }").is_empty());
}

/// Many workers, some of whom go away with a step: none is lost, and none is answered twice. Who gets which is held by `queue::tests`.
#[test]
fn many_workers_share_the_steps() {
    let (workers, cases) = (200 / stride(), 1000 / stride());
    let project = Project::with(&[("two.yaml", TWO), ("launch.json", &launch(cases))]);
    in_time(2000, |lease| {
        project.file("asterisk.yaml", format!("agents:\n  mcp: {{ kind: mcp, timeout: {lease}ms }}\n"));
        shared_by_many(&project, workers, cases)
    });
}

/// None if a worker that lives lost its step, since it could not answer within its lease.
fn shared_by_many(project: &Project, workers: usize, cases: usize) -> Option<()> {
    let net = Net::start(project, &[], None);
    let begun = net.connect().call("start_run", &json!({ "pipeline": "two.yaml", "input": "launch.json", "parallel": workers }));
    assert_eq!(begun["cases"], cases, "{begun}");
    let taken: Mutex<BTreeMap<(String, String), usize>> = Mutex::default();
    let (late, gone) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let work = |number: usize| {
            let (net, taken, late, gone) = (&net, &taken, &late, &gone);
            move || {
                let (mut http, mut count) = (net.connect(), 0_usize);
                loop {
                    let step = http.call("get_next_step", &json!({ "worker": format!("w{number}") }));
                    if step["done"] == true {
                        assert!(step["error"].is_null(), "{step}");
                        return;
                    }
                    if step["available"] != true {
                        continue;
                    }
                    // Some die with a step in their hands.
                    if number < 3 && count == 2 {
                        gone.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    let reply = http.call("submit_artifact", &answer(&step, json!({ "found": true })));
                    if reply["accepted"] != true {
                        assert_eq!(reply["code"], "not_yours", "{reply}");
                        late.store(true, Ordering::Relaxed);
                        continue;
                    }
                    let text = |key: &str| step[key].as_str().unwrap().to_owned();
                    *taken.lock().unwrap().entry((text("case_id"), text("node"))).or_default() += 1;
                    count += 1;
                }
            }
        };
        let workers: Vec<_> = (0..workers).map(|number| scope.spawn(work(number))).collect();
        for worker in workers {
            worker.join().unwrap();
        }
    });
    let taken = taken.into_inner().unwrap();
    assert_eq!(taken.len(), 2 * cases);
    assert!(taken.values().all(|times| *times == 1));
    let health = net.connect().call("get_worker_health", &json!({}));
    assert_eq!(health["state"], "done", "{health}");
    let lost: u64 = health["workers"].as_array().unwrap().iter().map(|one| one["lost"].as_u64().unwrap()).sum();
    if late.into_inner() {
        return None;
    }
    assert_eq!(lost, gone.into_inner() as u64);
    Some(())
}

/// A Python that has the official SDK.
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
pub(crate) fn python() -> Option<&'static String> {
    static PYTHON: OnceLock<Option<String>> = OnceLock::new();
    PYTHON
        .get_or_init(|| {
            let named = std::env::var("ASTERISK_TEST_PYTHON").ok();
            let found = named.into_iter().chain(["python3".to_owned()]).find(|python| {
                let mut command = Command::new(python);
                command.args(["-c", "from mcp import Client"]).stdout(Stdio::null()).stderr(Stdio::null());
                command.status().is_ok_and(|status| status.success())
            });
            if found.is_none() {
                eprintln!("SKIPPED: no Python with the package `mcp` is there (set ASTERISK_TEST_PYTHON, see .ci/run)");
            }
            found
        })
        .as_ref()
}

/// The official client of another language answers the whole bundled launch, here with what the scripts would say.
fn bundled_launch(server: impl Fn(&Project) -> (Option<Net>, Value)) {
    let Some(python) = python() else { return };
    let project = Project::new();
    // What the scripts say, as answers by case and node.
    let own = project.asterisk(&["run", "--format", "json", "--files", "always"]).exits(0).json();
    let events = project.read(&format!(".asterisk/investigations/{}/events.jsonl", own["run"].as_str().unwrap()));
    let mut answers: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in
        events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(|event| event["type"] == "node_exit")
    {
        let (case, path, node) =
            (event["case"].as_str().unwrap(), event["path"].as_str().unwrap(), event["node"].as_str().unwrap());
        answers.entry(format!("{case}/{node}")).or_default().push(json!(path));
    }
    let (net, how) = server(&project);
    project.file("how.json", json!({ "server": how, "run": own["run"], "answers": answers }).to_string());
    project.file("client.py", include_str!("mcp_client.py"));
    let mut command = Command::new(python);
    command.arg("client.py").current_dir(project.root()).env("ASTERISK_CLOCK", crate::harness::CLOCK);
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &*String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    drop(net);
    let theirs = project.asterisk(&["status", "latest", "--format", "json"]).exits(0).json();
    assert_ne!(theirs["run"], own["run"]);
    for (own, theirs) in own["cases"].as_array().unwrap().iter().zip(theirs["cases"].as_array().unwrap()) {
        assert_eq!((&own["case"], &own["edges"]), (&theirs["case"], &theirs["edges"]), "{said}");
        assert!(theirs["tokens"]["prompt"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_client_of_another_language_answers_the_bundled_launch_over_pipes() {
    bundled_launch(|_| {
        let args = ["serve", "--mcp", "stdio"];
        (
            None,
            json!({ "command": env!("CARGO_BIN_EXE_asterisk"), "args": args, "env": { "ASTERISK_CLOCK": crate::harness::CLOCK } }),
        )
    });
}

#[test]
fn a_client_of_another_language_answers_the_bundled_launch_over_http() {
    bundled_launch(|project| {
        let net = Net::start(project, &[], None);
        let at = format!("http://{}/mcp", net.at);
        (Some(net), json!({ "url": at }))
    });
}
