//! Nodes that call tools of MCP servers: the program's own server, one in another language, and invalid ones.

use crate::harness::{PATIENCE, Project, Ran, TWO, in_time, until};
use crate::mcp::{Net, python};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Looks something up, and goes on by what came back.
fn pipeline() -> String {
    let look = "    code: T1\n    schema: { found: bool, why?: string, by?: string }\n";
    let tool = "    tool: notes/find\n    arguments: \"#{ text: vars.text, node: identity.node }\"\n    schema: { found: bool, note?: string }\n";
    let close = "  - name: close\n    tool: notes/find\n    arguments: rules/asks.rhai#again\n";
    let asks = TWO.replace("pipeline: two\n", "pipeline: asks\nvars: { text: plain }\n");
    asks.replace(look, tool).replace("  - name: close\n", close)
}
const RULES: &str =
    "/// What is asked the second time.\nfn again(params, vars) {\n    #{ text: \"again\", before: params.prior[\"look\"] }\n}\n";

/// A shell server: `body` answers a call, with the line as `$line` and the id of the request as `$id`.
pub(crate) fn fake(body: &str) -> String {
    format!(
        "#!/bin/sh\n\
         say() {{ printf '%s\\n' \"$1\"; }}\n\
         result() {{ say \"{{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"result\\\":$1}}\"; }}\n\
         text() {{ result \"{{\\\"content\\\":[{{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"$1\\\"}}]$2}}\"; }}\n\
         while read -r line; do\n\
         id=$(printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\n\
         case $line in\n\
         *'\"initialize\"'*) echo hello >&2; result '{{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"fake\",\"version\":\"1\"}}}}';;\n\
         *'\"tools/list\"'*) result '{{\"tools\":[{{\"name\":\"find\",\"inputSchema\":{{\"type\":\"object\"}}}},{{\"name\":\"list\",\"inputSchema\":{{\"type\":\"object\"}}}}]}}';;\n\
         *'\"tools/call\"'*) echo \"$line\" >> calls.txt\n{body};;\n\
         esac\n\
         done\n"
    )
}

pub(crate) const GOOD: &str = "text '{\\\"found\\\": true, \\\"note\\\": \\\"x\\\"}'";

/// A project whose server is a shell script; `more` is what its entry says besides.
pub(crate) fn project(body: &str, more: &str) -> Project {
    let entry = format!("mcp_servers:\n  notes: {{ command: [./notes.sh], retry: {{ attempts: 2, wait: 1ms }}{more} }}\n");
    let project = Project::with(&[("asks.yaml", &pipeline()), ("asterisk.yaml", &entry), ("scripts/rules/asks.rhai", RULES)]);
    executable(&project.file("notes.sh", fake(body)));
    project
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) const RUN: [&str; 6] = ["run", "asks.yaml", "--scripts", "scripts", "--input", "none"];

fn run(project: &Project) -> Ran {
    project.asterisk(&[&RUN[..], &["--format", "json"]].concat())
}

/// The events of a run of these types.
fn events(project: &Project, run: &Ran, types: &[&str]) -> Vec<Value> {
    let id = run.json()["run"].as_str().unwrap().to_owned();
    let text = project.read(&format!(".asterisk/investigations/{id}/events.jsonl"));
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| types.iter().any(|kind| event["type"] == *kind)).collect()
}

pub(crate) fn calls(project: &Project) -> Vec<Value> {
    project.read("calls.txt").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_tool_answers_a_node() {
    let project = project(GOOD, "");
    let ran = run(&project).exits(0);
    let case = &ran.json()["cases"][0];
    assert_eq!(case["edges"], json!(["E1", "E3"]), "{}", ran.text());
    // An expression gives the arguments, or a function with access to earlier results.
    let calls = calls(&project);
    assert_eq!(calls[0]["params"]["name"], "find");
    assert_eq!(calls[0]["params"]["arguments"], json!({ "text": "plain", "node": "look" }));
    assert_eq!(calls[1]["params"]["arguments"], json!({ "text": "again", "before": { "found": true, "note": "x" } }));
    // Calls are recorded before they are made, with their answerer.
    let asked = events(&project, &ran, &["asked", "node_exit"]);
    let types: Vec<&Value> = asked.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["asked", "node_exit", "asked", "node_exit"]);
    assert_eq!((&asked[0]["via"], &asked[1]["by"]), (&json!("mcp:notes"), &json!("tool")));
    assert_eq!(asked[1]["agent"], json!({ "via": "mcp:notes", "request": asked[0]["id"] }));
    let id = format!("{}-{}", ran.json()["run"].as_str().unwrap(), asked[0]["id"]);
    assert_eq!(calls[0]["params"]["_meta"]["asterisk/request"], json!(id));
    // Recorded calls are not repeated.
    std::fs::remove_file(project.root().join("notes.sh")).unwrap();
    let id = ran.json()["run"].as_str().unwrap().to_owned();
    project.asterisk(&["explain", &id]).exits(0);
    let explained = project.asterisk(&["explain", &id, "--step", "look"]).exits(0);
    assert!(explained.stdout.contains("called notes/find with node: \"look\", text: \"plain\""), "{}", explained.stdout);
    let replayed = project.asterisk(&["replay", &id, "--format", "json"]).exits(0).json();
    assert_eq!((&replayed["flips"], &replayed["unknown"]), (&json!([]), &json!([])), "{replayed}");
    project.asterisk(&["coverage", &id]).exits(0);
    assert_eq!(project.asterisk(&["run", "--resume", &id, "--format", "json"]).exits(0).json()["cases"], ran.json()["cases"]);
}

#[test]
fn tool_results_are_structured_content_json_or_text() {
    for (body, found) in [
        (
            "result '{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"structuredContent\":{\"found\":false}}'",
            json!({ "found": false }),
        ),
        ("text '{\\\"found\\\": false}'", json!({ "found": false })),
    ] {
        let ran = run(&project(body, "")).exits(0);
        assert_eq!(ran.json()["cases"][0]["edges"], json!(["E2"]), "{found}");
    }
    // A plain text is a result too, and here not of the node's form; no answerer is there to correct it.
    let project = project("text 'two of them'", "");
    let ran = run(&project).exits(4);
    let error = &ran.json()["cases"][0]["error"];
    assert_eq!((&error["kind"], &error["node"]), (&json!("schema"), &json!("look")), "{error}");
    assert_eq!(calls(&project).len(), 1);
}

/// The error for each failure, and the number of calls to the server.
#[test]
fn failures_are_reported() {
    let mut output = String::new();
    for (name, body, more, called) in [
        ("the tool says that it failed", "text 'no such \\\"thing\\\"' ',\"isError\":true'", "", 2),
        (
            "the server refuses",
            "say \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"error\\\":{\\\"code\\\":-32602,\\\"message\\\":\\\"what text?\\\"}}\"",
            "",
            1,
        ),
        ("it dies", "echo 'out of cheese' >&2; exit 3", "", 2),
        ("garbage", "echo '<html>sorry</html>'; exit 0", "", 2),
        ("huge", "printf '%070000d\\n' 7", ", max_bytes: 65536", 1),
        (
            "deep",
            "d=$(printf '%070d' 0 | sed 's/0/[/g'); e=$(printf '%070d' 0 | sed 's/0/]/g'); text \"{\\\\\\\"a\\\\\\\": $d$e}\"",
            "",
            1,
        ),
        (
            "deeper than can be read",
            "d=$(printf '%0200d' 0 | sed 's/0/[/g'); e=$(printf '%0200d' 0 | sed 's/0/]/g'); result \"{\\\"content\\\":[],\\\"structuredContent\\\":{\\\"a\\\":$d$e}}\"",
            "",
            2,
        ),
        ("a list", "result '{\"content\":[],\"structuredContent\":[1]}'", "", 1),
    ] {
        let project = project(body, more);
        let began = Instant::now();
        let ran = project.asterisk(&RUN);
        assert!(began.elapsed() < PATIENCE, "{name}");
        assert_eq!(ran.code, Some(4), "{name}: {}", ran.text());
        assert_eq!(calls(&project).len(), called, "{name}: {}", ran.text());
        _ = write!(output, "## {name}\n{}\n", error(&ran));
    }
    in_time(500, |limit| {
        let project = project("sleep 9999", &format!(", timeout: {limit}ms"));
        let said = error(&project.asterisk(&RUN).exits(4));
        (project.root().join("calls.txt").exists() && calls(&project).len() == 2).then(|| {
            let limit = format!("{} s", Duration::from_millis(limit).as_secs_f64());
            _ = write!(output, "## slow\n{}\n", said.replace(&limit, "0.5 s"));
        })
    });
    let missing = project("", "");
    std::fs::remove_file(missing.root().join("notes.sh")).unwrap();
    _ = write!(output, "## no program\n{}\n", error(&missing.asterisk(&RUN).exits(4)));
    let unknown = project("", "");
    unknown.file("asks.yaml", pipeline().replacen("notes/find", "notes/fnd", 1));
    _ = write!(output, "## no such tool\n{}\n", error(&unknown.asterisk(&RUN).exits(4)));
    let bad = project("", "");
    bad.file("asks.yaml", pipeline().replacen("#{ text: vars.text, node: identity.node }", "vars.text", 1));
    _ = write!(output, "## no map\n{}\n", error(&bad.asterisk(&RUN).exits(4)));
    insta::assert_snapshot!("failures", output);
}

fn error(ran: &Ran) -> String {
    let kept = |line: &&str| !line.trim().is_empty() && !line.contains("in case");
    ran.stderr.lines().filter(kept).collect::<Vec<_>>().join("\n")
}

#[test]
fn links_are_checked_and_servers_are_shown() {
    let project = project(GOOD, ", env: { KEY: { env: NO_SUCH_VARIABLE } }");
    project.file("asks.yaml", pipeline().replacen("notes/find", "notse/find", 1));
    insta::assert_snapshot!("unknown_server", run(&project).exits(3).text());
    let doctor = project.asterisk(&["doctor"]);
    let lines: Vec<&str> = doctor.stdout.lines().skip_while(|line| !line.contains("mcp_servers")).take(3).collect();
    insta::assert_snapshot!("doctor", lines.join("\n"));
    let graph = project.asterisk(&["graph", "asks.yaml"]);
    assert!(graph.stdout.contains("tool notes/find"), "{}", graph.text());
    let shown = project.asterisk(&["config"]).exits(0);
    assert!(shown.stdout.contains("mcp_servers.notes"), "{}", shown.stdout);
}

/// A secret reaches the server, and nothing else.
#[test]
fn secrets_never_leave_the_host() {
    const SECRET: &str = "hush-7719-hush";
    let project = project(
        "text \"{\\\\\\\"found\\\\\\\": true, \\\\\\\"note\\\\\\\": \\\\\\\"$KEY\\\\\\\"}\"; echo \"$KEY\" >&2",
        ", env: { KEY: { env: NOTES_KEY } }",
    );
    let ran = project.call(&RUN).env("NOTES_KEY", SECRET).ran().exits(0);
    assert!(!ran.text().contains(SECRET));
    for (path, text) in project.tree() {
        assert!(path == "calls.txt" || !String::from_utf8_lossy(&text).contains(SECRET), "{path}");
    }
    let id = project.asterisk(&["status", "--format", "json"]).json()["runs"][0]["run"].as_str().unwrap().to_owned();
    assert!(project.read(&format!(".asterisk/investigations/{id}/events.jsonl")).contains("asked"));
}

/// A run that is stopped while a tool is at work stops waiting at once, leaves no process, and resumes with the same request.
#[test]
fn an_interrupted_call_is_made_again_with_its_id() {
    let body = format!("if [ -e go ]; then {GOOD}; else echo $$ > pid; sleep 9999 & wait; fi");
    let project = project(&body, "");
    let mut child = project.command(&RUN).stdout(Stdio::null()).spawn().unwrap();
    until(|| std::fs::read_to_string(project.root().join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    interrupt(child.id());
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    until(|| !is_running(project.read("pid").trim()));
    project.file("go", "");
    let id = project.asterisk(&["status", "--format", "json"]).json()["runs"][0]["run"].as_str().unwrap().to_owned();
    let ran = project.asterisk(&["run", "--resume", &id, "--format", "json"]).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E3"]));
    let calls = calls(&project);
    let request = |call: &Value| call["params"]["_meta"]["asterisk/request"].clone();
    assert_eq!((calls.len(), request(&calls[0])), (3, request(&calls[1])));
}

pub(crate) fn interrupt(pid: u32) {
    assert!(Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap().success());
}

pub(crate) fn is_running(pid: &str) -> bool {
    // A dead process that waits to be reaped no longer runs.
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Each item of a list has its call.
#[test]
fn a_tool_is_called_for_each_item() {
    let project = project("echo $$ >> pids; sleep 9999 & echo $! >> pids; text '{\\\"found\\\": true}'", "");
    let fan = "pipeline: asks\nnodes:\n  - name: look\n    tool: notes/find\n    foreach: \"[#{ a: 1 }, #{ a: 2 }]\"\n    \
               arguments: \"#{ item: state.context.item }\"\nedges: [{ id: E1, from: look, to: _done }]\nstart: look\ndone: _done\n";
    project.file("asks.yaml", fan);
    run(&project).exits(0);
    let mut items: Vec<i64> =
        calls(&project).iter().map(|call| call["params"]["arguments"]["item"]["a"].as_i64().unwrap()).collect();
    items.sort_unstable();
    assert_eq!(items, [1, 2]);
    // Nothing is left of the server when the run is over.
    until(|| project.read("pids").lines().all(|pid| !is_running(pid)));
}

const OWN: &str = "\
pipeline: own
nodes:
  - name: check
    tool: own/lint_script
    arguments: '#{ path: \"rules/new.rhai\", text: \"fn f(artifact, state, vars) { artifact.x == true }\" }'
  - name: ask
    tool: own/route
    arguments: '#{ node: \"recall\", artifact: #{ \"match\": true, confidence: 0.9 } }'
edges:
  - { id: E1, from: check, to: ask }
  - { id: E2, from: ask, to: _done, condition: 'edge == \"H1\"' }
start: check
done: _done
";

/// The program's own server, over pipes and over HTTP.
#[test]
fn the_program_serves_its_own_tools() {
    const SECRET: &str = "a-secret-of-some-length-5711";
    let project = Project::with(&[("own.yaml", OWN)]);
    let pipes = json!({ "command": [env!("CARGO_BIN_EXE_asterisk"), "serve", "--mcp", "stdio"] });
    project.file("asterisk.yaml", json!({ "mcp_servers": { "own": pipes } }).to_string());
    let args = ["run", "own.yaml", "--input", "none", "--format", "json"];
    let ran = project.asterisk(&args).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E2"]), "{}", ran.text());
    let exits = events(&project, &ran, &["node_exit"]);
    assert!(exits.iter().all(|exit| exit["by"] == "tool"));

    let net = Net::start(&project, &[], Some(SECRET));
    let web = json!({ "url": format!("http://{}/mcp", net.at), "secret": { "env": "TOKEN" } });
    project.file("asterisk.yaml", json!({ "mcp_servers": { "own": web } }).to_string());
    let with = |token: &str| project.call(&args).env("TOKEN", token).ran();
    let ran = with(SECRET).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E2"]), "{}", ran.text());
    assert!(!ran.text().contains(SECRET));
    let refused = with("another").exits(4);
    let error = &refused.json()["cases"][0]["error"];
    assert!(error["message"].as_str().unwrap().contains("401"), "{error}");
    drop(net);
    let gone = with(SECRET).exits(4);
    assert_eq!(gone.json()["cases"][0]["error"]["kind"], "agent_error");
}

const PYTHON: &str = r#"
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")


@server.tool()
def find(text: str, node: str = "", before: dict | None = None) -> dict:
    """Finds a note."""
    return {"found": text == "plain", "note": f"{text} of {node or 'nobody'}"}


server.run("stdio")
"#;

#[test]
fn a_server_of_another_language_answers() {
    let Some(python) = python() else { return };
    let project = project("", "");
    project.file("server.py", PYTHON);
    project.file("asterisk.yaml", json!({ "mcp_servers": { "notes": { "command": [python, "server.py"] } } }).to_string());
    let ran = run(&project).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E3"]), "{}", ran.text());
}
