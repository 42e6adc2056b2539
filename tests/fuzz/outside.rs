//! Readers behind a pipe, a socket or a program: the built program is given many inputs at once, and must exit as documented, without a
//! panic.

use crate::engine::{Target, Tries};
use crate::harness::{PATIENCE, Project, TWO};
use crate::samples::texts;
use crate::server::says;
use asterisk_adapters::net::SecretReader;
use asterisk_adapters::reportportal::{Access, Portal, PortalSettings};
use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_base::environment::Variables;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

pub(crate) fn all() -> Vec<Target> {
    vec![
        Target {
            name: "answer-of-a-command",
            samples: || {
                texts(&[
                    "{\"found\": true}",
                    "Well.\n```json\n{\"found\": false, \"why\": \"x\"}\n```\n",
                    "{\"type\":\"result\",\"result\":\"{\\\"found\\\": true}\",\"usage\":{\"in\":3}}",
                ])
            },
            tries: Tries::Together { many: 60, reads: commands },
            few: 120,
            covers: &[
                "crates/adapters/src/agent/find_json.rs",
                "crates/adapters/src/agent/exec.rs",
                "crates/adapters/src/agent/process.rs",
            ],
        },
        Target {
            name: "answer-of-a-model",
            samples: || texts(&[MODEL, "{\"error\": {\"message\": \"no credit\", \"type\": \"x\"}}", "{\"choices\": []}"]),
            tries: Tries::Together { many: 60, reads: models },
            few: 60,
            covers: &["crates/adapters/src/agent/find_json.rs", "crates/adapters/src/net/client.rs"],
        },
        Target {
            name: "answer-of-a-tool",
            samples: || {
                texts(&[
                    TOOL,
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"what?\"}}",
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}",
                ])
            },
            tries: Tries::Together { many: 40, reads: tools },
            few: 16,
            covers: &[
                "crates/adapters/src/agent/tools/pipes.rs",
                "crates/adapters/src/agent/tools/result.rs",
                "crates/adapters/src/agent/tools/server_output.rs",
            ],
        },
        Target {
            name: "answer-of-a-tool-over-http",
            samples: || {
                texts(&[
                    TOOL,
                    "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n",
                    "data: x\nid: 1\nretry: 3\n\n",
                ])
            },
            tries: Tries::Together { many: 20, reads: web_tools },
            few: 20,
            covers: &["crates/adapters/src/agent/tools/web.rs"],
        },
        Target {
            name: "reportportal",
            samples: portal_samples,
            tries: Tries::Each { reads: portal, mib: 64, kib: 64 },
            few: 150,
            covers: &[
                "crates/adapters/src/reportportal/call.rs",
                "crates/adapters/src/reportportal/page.rs",
                "crates/adapters/src/reportportal/fetch.rs",
            ],
        },
        Target {
            name: "mcp-over-pipes",
            samples: messages,
            tries: Tries::Together { many: 60, reads: pipes },
            few: 120,
            covers: &["src/serve/args.rs", "src/serve/lines.rs"],
        },
        Target {
            name: "mcp-over-http",
            samples: requests,
            tries: Tries::Together { many: 60, reads: http },
            few: 120,
            covers: &["src/serve/args.rs", "src/serve/body.rs", "src/serve/guard.rs"],
        },
        Target {
            name: "output-of-git",
            samples: || {
                texts(&[
                    LOG,
                    BLAME,
                    "src/cart.rs\0",
                    "HEAD:src/cart.rs\x003\0let total = items[n];\n",
                    "e83c5163316f89bfbde7d9ab23ca2e25604af290 1771104069\n",
                    "main\n",
                ])
            },
            tries: Tries::Together { many: 6, reads: git },
            few: 6,
            covers: &[
                "crates/adapters/src/workspace/blame.rs",
                "crates/adapters/src/workspace/checkout.rs",
                "crates/adapters/src/workspace/folder.rs",
                "crates/adapters/src/workspace/git.rs",
                "crates/adapters/src/workspace/grep.rs",
                "crates/adapters/src/workspace/history.rs",
                "crates/adapters/src/workspace/log.rs",
            ],
        },
        Target {
            name: "session",
            samples: || {
                texts(&[
                    "1 + 2\n",
                    ":case 880101\n:at triage\nartifact\n",
                    ":set recall_hit 0.5\n:decide\n:flip H1\n",
                    ":load {\"match\": true}\n:diff 1\n",
                    ":follow\n:doc state\n:graph\n:type artifact\n",
                ])
            },
            tries: Tries::Together { many: 40, reads: repl },
            few: 10,
            covers: &["src/repl/data.rs", "src/repl/flip.rs", "src/repl/place.rs", "src/repl/assist.rs", "src/repl/tryout.rs"],
        },
        Target {
            name: "route-and-call",
            samples: || {
                texts(&[
                    "{\"node\": \"recall\", \"artifact\": {\"match\": true, \"confidence\": 0.9}}",
                    "{\"id\": \"x\", \"node\": \"review\", \"artifact\": {}, \"state\": {\"loops\": {\"H1\": 1}}, \"vars\": {\"recall_hit\": 2}}",
                ])
            },
            tries: Tries::Together { many: 100, reads: routes },
            few: 100,
            covers: &[
                "src/cli/eval.rs",
                "crates/decisions/src/replay/sweep/scenario.rs",
                "crates/decisions/src/replay/sweep/values.rs",
                "crates/script-tests/src/params.rs",
            ],
        },
    ]
}

const MODEL: &str = r#"{"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "{\"found\": true}"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 10, "completion_tokens": 3}}"#;
const TOOL: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"found\": true}"}],"structuredContent":{"found":true},"isError":false}}"#;
const LOG: &str = "\0e83c5163316f89bfbde7d9ab23ca2e25604af290\0\x001771104069\0Ada\0Total invoices\0\nsrc/cart.rs\n";
const BLAME: &str = "e83c5163316f89bfbde7d9ab23ca2e25604af290 4 4 1\nauthor Ada\nauthor-mail <ada@example.com>\nauthor-time 1771104069\nauthor-tz +0000\ncommitter Ada\ncommitter-time 1771104069\nsummary Sum\nboundary\nfilename src/cart.rs\n\tlet total = items[n];\n";

/// Ends well or with a code that the program has, and without a panic.
fn ended(project: &Project, child: Child, codes: &[i32]) -> Result<(), String> {
    let pid = child.id().to_string();
    let (send, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(child.wait_with_output().unwrap()));
    let Ok(out) = ended.recv_timeout(PATIENCE) else {
        drop(std::process::Command::new("kill").args(["-9", &pid]).status());
        return Err(format!("it is not done after {PATIENCE:?}"));
    };
    let ran = project.ran(&out);
    let known = ran.code.is_some_and(|code| codes.contains(&code));
    if known && !ran.stderr.contains("panicked") { Ok(()) } else { Err(ran.text().chars().take(4000).collect()) }
}

/// A launch with this number of cases.
fn launch(cases: usize) -> String {
    let case = |number: usize| json!({ "id": format!("c{number}"), "name": format!("test {number}"), "status": "FAILED", "error_message": format!("e{number}") });
    json!({ "run_id": "r", "name": "many", "failure_list": (0..cases).map(case).collect::<Vec<_>>() }).to_string()
}

/// A project whose cases are one for each input, and a file for each input.
fn project(inputs: &[Vec<u8>]) -> Project {
    let project = Project::with(&[("two.yaml", TWO), ("launch.json", &launch(inputs.len()))]);
    for (number, input) in inputs.iter().enumerate() {
        project.file(&format!("inputs/{number}"), input);
    }
    project
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Each case is answered by an input.
fn commands(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = project(inputs);
    executable(&project.file("say.sh", "#!/bin/sh\ncat > /dev/null\nexec cat inputs/${ASTERISK_CASE#c}\n"));
    project.file("asterisk.yaml", "agents: { say: { kind: exec, command: [./say.sh], tokens: { in: usage.in, out: u.0 }, retry: { attempts: 1 }, breaker: { failures: 100000 } } }\n");
    ended(&project, project.start(&["run", "two.yaml", "--input", "launch.json", "--via", "say"]), &[0, 4])
}

/// A server on the loopback that answers each request with one of these bytes.
fn answering(answers: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            if crate::server::read(&stream).is_some() {
                let mut stream = stream;
                drop(stream.write_all(&answers[number % answers.len()]));
            }
        }
    });
    url
}

/// An answer in HTTP with this body.
fn in_http(kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Each request is answered by an input, as the body and as the whole answer by turns.
fn models(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = project(inputs);
    let answers = inputs.iter().enumerate();
    let url = answering(
        answers.map(|(number, input)| if number % 8 == 7 { input.clone() } else { in_http("application/json", input) }).collect(),
    );
    project.file("asterisk.yaml", format!("agents: {{ model: {{ kind: http, url: '{url}/v1', timeout: 2s, retry: {{ attempts: 1 }}, breaker: {{ failures: 100000 }} }} }}\n"));
    ended(&project, project.start(&["run", "two.yaml", "--input", "launch.json", "--via", "model", "--parallel", "1"]), &[0, 4])
}

const ASKS: &str = "pipeline: asks\nnodes:\n  - name: look\n    tool: notes/find\n    arguments: \"#{ a: 1 }\"\nedges: [{ id: E1, from: look, to: _done }]\nstart: look\ndone: _done\n";
const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}}"#;

/// A server in shell that says an input, then the right answer.
fn tools(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = project(inputs);
    project.file("asks.yaml", ASKS);
    let greeting = GREETING.replace("\"id\":0", "\"id\":'\"$id\"'");
    executable(&project.file(
        "notes.sh",
        format!(
            "#!/bin/sh\nwhile read -r line; do\nid=$(printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\ncase $line in\n\
             *'\"initialize\"'*) printf '%s\\n' '{greeting}';;\n\
             *'\"tools/call\"'*) n=$(cat next 2>/dev/null || echo 0); echo $((n+1)) > next; cat inputs/$n 2>/dev/null; echo; \
             printf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":'\"$id\"',\"result\":{{\"content\":[]}}}}';;\nesac\ndone\n"
        ),
    ));
    project.file("asterisk.yaml", "mcp_servers: { notes: { command: [./notes.sh], timeout: 300ms, retry: { attempts: 1 }, breaker: { failures: 100000 } } }\n");
    ended(&project, project.start(&["run", "asks.yaml", "--input", "launch.json", "--parallel", "1"]), &[0, 4])
}

/// The same over HTTP: JSON and streams of events by turns.
fn web_tools(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = project(inputs);
    project.file("asks.yaml", ASKS);
    let mut answers = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        answers.push(in_http("application/json", GREETING.as_bytes()));
        answers.push(says("202 Accepted", "", "").into_bytes());
        answers.push(in_http(if number % 2 == 0 { "text/event-stream" } else { "application/json" }, input));
    }
    let url = answering(answers);
    project.file("asterisk.yaml", format!("mcp_servers: {{ notes: {{ url: '{url}/mcp', timeout: 300ms, retry: {{ attempts: 1 }}, breaker: {{ failures: 100000 }} }} }}\n"));
    ended(&project, project.start(&["run", "asks.yaml", "--input", "launch.json", "--parallel", "1"]), &[0, 4])
}

fn portal_samples() -> Vec<Vec<u8>> {
    let page =
        |content: Value| json!({ "content": content, "page": { "number": 1, "size": 300, "totalElements": 2, "totalPages": 1 } });
    let all = [
        json!({ "id": 7, "uuid": "a1-b2", "name": "nightly", "number": 3, "status": "FAILED", "startTime": "2026-02-14T21:21:09Z", "attributes": [{ "key": "v", "value": "4.2" }] }),
        page(
            json!([{ "id": 101, "name": "adds up", "type": "STEP", "status": "FAILED", "launchId": 7, "path": "100.101", "pathNames": { "itemPaths": [{ "id": 100, "name": "Cart" }] }, "issue": { "issueType": "ti001" } }]),
        ),
        page(
            json!([{ "id": 1011, "time": 1_771_104_069_500_u64, "message": "panicked at src/cart.rs:42", "level": "ERROR", "itemId": 101 }]),
        ),
    ];
    // The first byte says which of them it is.
    all.iter().enumerate().map(|(number, value)| format!("{number}{value}").into_bytes()).collect()
}

/// What the server of [`portal`] says to a request for a launch, items, logs.
static SAYS: Mutex<[Vec<u8>; 3]> = Mutex::new([Vec::new(), Vec::new(), Vec::new()]);

fn portal_url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/api", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some(seen) = crate::server::read(&stream) else { continue };
                let which = if seen.path.contains("/log") { 2 } else { usize::from(seen.path.contains("/item")) };
                let body = SAYS.lock().unwrap()[which].clone();
                drop(stream.write_all(&in_http("application/json", &body)));
            }
        });
        url
    })
}

/// Fetches a launch from a server one of whose answers is the input, and reads it.
fn portal(input: &[u8]) {
    let samples = portal_samples();
    let which = usize::from(input.first().copied().unwrap_or_default().wrapping_sub(b'0')) % 3;
    let url = portal_url();
    *SAYS.lock().unwrap() =
        [0, 1, 2].map(|at| if at == which { input.get(1..).unwrap_or_default() } else { &samples[at][1..] }.to_vec());
    let settings = PortalSettings { url: Some(url.to_owned()), project: Some("shop".into()), token: None };
    let clock = FixedClock::new(Timestamp::from_millis(1_771_104_069_000), 1);
    let secret = SecretReader { variables: Variables::default(), file: |_| Err(String::new()) };
    let access = Access { root: Path::new("."), secret, clock: &clock, stop: &AtomicBool::new(false) };
    let portal = Portal::open(&settings, &access).map_err(|trouble| trouble.diagnostic().to_string()).unwrap();
    if let Ok(fetched) = portal.fetch("7", |_, _| {}) {
        drop(asterisk_launch::read(&asterisk_diag::Source::new(fetched.name, fetched.text)));
    }
}

fn messages() -> Vec<Vec<u8>> {
    let call = |name: &str, arguments: Value| {
        json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
            .to_string()
            .into_bytes()
    };
    let ask = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params }).to_string().into_bytes()
    };
    vec![
        call("start_run", json!({ "pipeline": "two.yaml", "input": "none", "force": true })),
        call("get_next_step", json!({ "worker": "ann", "timeout_ms": 1 })),
        call("submit_artifact", json!({ "dispatch_id": 7, "ticket": "x", "artifact": { "found": true } })),
        call("lint_script", json!({ "path": "rules/x.rhai", "text": "fn f(artifact, state, vars) { artifact.x }" })),
        call("explain", json!({ "case": "case-1", "run": "latest" })),
        call("get_report", json!({ "format": "summary" })),
        call("get_signals", json!({})),
        ask("tools/list", json!({})),
        ask("resources/read", json!({ "uri": "asterisk://runs/x/cases/c/prompt/1" })),
        ask("resources/templates/list", json!({ "cursor": "x" })),
        ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
        ),
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#.to_vec(),
    ]
}

/// A server on pipes is sent each input as a line. It may end, as it does when its client goes away, but not with a panic.
fn pipes(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = Project::with(&[("two.yaml", TWO)]);
    let mut child = project.command(&["serve", "--mcp", "stdio"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    writeln!(to, "{hello}").unwrap();
    from.read_line(&mut String::new()).unwrap();
    // It is read and written concurrently, or both sides would wait.
    let heard = std::thread::spawn(move || drop(from.read_to_end(&mut Vec::new())));
    writeln!(to, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap_or_default();
    for input in inputs {
        drop(to.write_all(input).and_then(|()| to.write_all(b"\n")));
    }
    drop(to);
    let ended = ended(&project, child, &[0, 1, 2, 4, 5]);
    heard.join().unwrap();
    ended
}

fn requests() -> Vec<Vec<u8>> {
    let with = |body: &Vec<u8>| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let mut all: Vec<Vec<u8>> = messages().iter().map(with).collect();
    all.push(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n".to_vec());
    all.push(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n".to_vec());
    all
}

/// A server on the network is sent each input as a request; then it must still answer.
fn http(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = Project::with(&[("two.yaml", TWO)]);
    let mut child = project.start(&["serve", "--mcp", "http", "--http", "127.0.0.1:0"]);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    let at = loop {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "the server says where it is");
        if let Some(rest) = line.split("http://").nth(1) {
            break rest.split('/').next().unwrap().trim().to_owned();
        }
    };
    let (send, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        drop(stderr.read_to_string(&mut text));
        drop(send.send(text));
    });
    let ask = |input: &[u8], whole: bool| {
        let mut stream = TcpStream::connect(&at).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // Refused halfway, or not listened to: both are answers.
        let sent = stream.write_all(input);
        if !whole {
            // It need not wait for more.
            drop(sent.and_then(|()| stream.shutdown(Shutdown::Write)));
        }
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Err("no end of the answer".to_owned()),
            _ => Ok(answer),
        }
    };
    let outcome = inputs.iter().try_for_each(|input| ask(input, false).map(drop)).and_then(|()| {
        let list = requests().into_iter().find(|request| String::from_utf8_lossy(request).contains("tools/list")).unwrap();
        let answer = String::from_utf8_lossy(&ask(&list, true)?).into_owned();
        if answer.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(format!("it does not answer any more: {answer}")) }
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let told = told.recv_timeout(PATIENCE).unwrap_or_default();
    if told.contains("panicked") { Err(told) } else { outcome }
}

/// A `git` that says what the real one says, with the input in its midst.
const GIT: &str = r#"#!/bin/sh
dir=$(mktemp -d "$FUZZ/XXXXXX")
PATH=$REAL git "$@" > "$dir/real"
code=$?
n=$(cat "$FUZZ/count" 2>/dev/null || echo 0)
echo $((n+1)) > "$FUZZ/count"
size=$(wc -c < "$dir/real")
cut=$((size * (n % 5) / 4))
head -c $cut "$dir/real"
cat "$FUZZ/input"
tail -c +$((cut + 1)) "$dir/real"
exit $code
"#;

fn git(inputs: &[Vec<u8>]) -> Result<(), String> {
    let path = std::env::var("PATH").unwrap();
    let project = Project::with(&[
        ("asterisk.yaml", "workspace:\n  repositories:\n    - { name: cart, path: repos/cart, purpose: the product }\n"),
        ("repos/cart/src/cart.rs", "fn total() {\n    let n = 3;\n    // sum\n    let total = items[n];\n}\n"),
        (
            "launch.json",
            r#"{"run_id": "7", "name": "n", "startTime": "2030-02-14T12:00:00Z", "failure_list": [{"id": 1, "name": "cart totals", "status": "FAILED", "error_message": "panicked at src/cart.rs:4: index out of bounds: the len is 3 but the index is 3 in total"}]}"#,
        ),
    ]);
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=Ada", "-c", "user.email=a@example.com", "commit", "-q", "-m", "x"],
    ] {
        let mut real = std::process::Command::new("git");
        real.arg("-C").arg(project.root().join("repos/cart")).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(real.status().unwrap().success());
    }
    std::fs::create_dir(project.root().join("fuzz")).unwrap();
    // The program does not pass on its environment, so the script has it in its text.
    let script = GIT.replace("$FUZZ", project.root().join("fuzz").to_str().unwrap()).replace("$REAL", &path);
    executable(&project.file("bin/git", script));
    let search = format!("{}:{path}", project.root().join("bin").display());
    for input in inputs {
        project.file("fuzz/input", input);
        std::fs::remove_dir_all(project.root().join(".asterisk")).unwrap_or_default();
        let mut command = project.command(&["run", "--input", "launch.json"]);
        ended(&project, command.env("PATH", &search).spawn().unwrap(), &[0, 4])?;
    }
    assert!(project.root().join("fuzz/count").exists(), "git was never asked");
    Ok(())
}

/// A run that sessions look at.
fn walked() -> &'static Project {
    static WALKED: OnceLock<Project> = OnceLock::new();
    WALKED.get_or_init(|| {
        let project = Project::new();
        project.process(&["run", "--format", "json"]).exits(0);
        project
    })
}

/// All inputs are typed at one session.
fn repl(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = walked();
    let mut child = project.command(&["repl", "--run"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let text: Vec<u8> = inputs.iter().flat_map(|input| [input, &b"\n"[..]].concat()).collect();
    let typed = std::thread::spawn(move || drop(to.write_all(&text)));
    let ended = ended(project, child, &[0, 1, 2, 3, 4, 5]);
    typed.join().unwrap();
    ended
}

/// Each input is a line of `eval route --batch`, and a scenario of `replay --sweep`.
fn routes(inputs: &[Vec<u8>]) -> Result<(), String> {
    let project = walked();
    let line = |input: &Vec<u8>| String::from_utf8_lossy(input).replace('\n', " ");
    project.file("batch.jsonl", inputs.iter().map(line).collect::<Vec<_>>().join("\n"));
    let codes = [0, 1, 2, 3, 4];
    ended(project, project.start(&["eval", "route", "rca-investigation", "--batch", "batch.jsonl", "--format", "json"]), &codes)?;
    let scenario = line(&inputs[0]);
    let scenario = project.file("scenario.yaml", scenario);
    ended(
        project,
        project.start(&["replay", "--sweep", "recall_hit=0.5..0.9:0.1", "--scenario", scenario.to_str().unwrap()]),
        &codes,
    )?;
    Ok(())
}
