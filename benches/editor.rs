//! The answers of the language server, over the bundled project and over one with a thousand scripts: each request against its bound, and the
//! time from an edit to its diagnostics.

mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::clock::SystemClock;
use asterisk_files::UnsavedTexts;
use asterisk_language_server::{OpenedProject, ServerHost, serve};
use asterisk_lint::Config;
use asterisk_session::{Session, SessionError, Setup};
use harness::Table;
use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const FILES: usize = 1_000;
const EACH: usize = 250;
/// How often each request is sent.
const TIMES: usize = 15;

struct Host(PathBuf);

impl ServerHost for Host {
    fn open(&self, _: &Path, unsaved: Arc<UnsavedTexts>) -> Result<OpenedProject, SessionError> {
        let mut setup = Setup { unsaved, ..Setup::bare(self.0.clone(), Arc::new(SystemClock)) };
        setup.texts.scripts = Some(self.0.join("scripts"));
        setup.pipelines = Some(self.0.join("pipelines"));
        Ok(OpenedProject { session: Session::new(setup), lint: Config::default(), root: self.0.clone() })
    }

    fn schema(&self, _: &str) -> Option<Value> {
        None
    }

    fn cache(&self) -> Option<PathBuf> {
        Some(self.0.join("cache"))
    }
}

/// Writes a rule that is used, and as many more as asked for.
fn project(dir: &Path, files: usize) {
    let write = |path: String, text: String| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    for at in 0..files {
        let text = format!(
            "//! Rule {at}.\n\n/// Fires on a confident match that was not seen too often.\nfn rule_{at}(artifact, state, vars) {{\n    \
             if !artifact.match || artifact.confidence < vars.enough {{ return false; }}\n    let taken = state.loops.again_{at};\n    \
             if taken >= vars.most {{ return false; }}\n    #{{ because: `sure: ${{artifact.confidence}}`, context: #{{ taken: taken + 1 }} }}\n}}\n"
        );
        write(format!("scripts/rules/r{at}.rhai"), text);
    }
    for first in (0..files).step_by(EACH) {
        let end = (first + EACH).min(files);
        let mut text = format!("pipeline: wide-{first}\ndescription: many rules\nvars: {{ enough: 0.8, most: 3 }}\nnodes:\n");
        for at in first..end {
            let next = if at + 1 < end { format!("n{}", at + 1) } else { "_done".to_owned() };
            let schema = "{ match: bool, confidence: { type: number, min: 0, max: 1 } }";
            let _ = writeln!(text, "  - {{ name: n{at}, schema: {schema}, fallback: {next} }}");
        }
        text.push_str("edges:\n");
        for at in first..end {
            let _ = writeln!(
                text,
                "  - {{ id: E{at}, from: n{at}, to: n{first}, loop: true, counter: again_{at}, rule: \"rules/r{at}.rhai#rule_{at}\" }}"
            );
        }
        let _ = writeln!(text, "start: n{first}\ndone: _done");
        write(format!("pipelines/wide-{first}.yaml"), text);
    }
}

struct Client {
    connection: Connection,
    next: i32,
    version: i32,
}

impl Client {
    fn note(&self, method: &str, params: Value) {
        self.connection.sender.send(Message::Notification(Notification { method: method.into(), params })).expect("a server");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next.into();
        self.connection.sender.send(Message::Request(Request { id, method: method.into(), params })).expect("a server");
        loop {
            if let Message::Response(response) = self.connection.receiver.recv().expect("an answer") {
                return response.response_result.expect("an answer");
            }
        }
    }

    fn took(&mut self, method: &str, params: &Value) -> Duration {
        let mut times: Vec<Duration> = (0..TIMES)
            .map(|_| {
                let start = Instant::now();
                self.ask(method, params.clone());
                start.elapsed()
            })
            .collect();
        times.sort();
        times[TIMES * 9 / 10]
    }
}

/// The slowest tenth of each request, in milliseconds, and the time from an edit to its diagnostics.
fn latencies(files: usize) -> Vec<(&'static str, f64)> {
    let dir = tempfile::tempdir().expect("a directory");
    project(dir.path(), files);
    let (ours, theirs) = Connection::memory();
    let host: Arc<dyn ServerHost> = Arc::new(Host(dir.path().to_owned()));
    let server = std::thread::spawn(move || serve(&theirs, &host));
    let mut client = Client { connection: ours, next: 0, version: 1 };
    client.ask(
        "initialize",
        json!({ "processId": null, "rootUri": format!("file://{}", dir.path().display()), "capabilities": {} }),
    );
    client.note("initialized", json!({}));
    let uri = |path: &str| format!("file://{}", dir.path().join(path).display());
    let open = |path: &str| {
        let text = std::fs::read_to_string(dir.path().join(path)).expect("a file");
        json!({ "textDocument": { "uri": uri(path), "languageId": "rhai", "version": 1, "text": text } })
    };
    let (script, pipeline) = ("scripts/rules/r0.rhai", "pipelines/wide-0.yaml");
    client.note("textDocument/didOpen", open(script));
    client.note("textDocument/didOpen", open(pipeline));
    client.ask("asterisk/state", json!({}));
    let of = json!({ "textDocument": { "uri": uri(script) } });
    let at = |line: usize, character: usize| json!({ "textDocument": { "uri": uri(script) }, "position": { "line": line, "character": character } });
    let with = |base: &Value, key: &str, value: Value| {
        let mut base = base.clone();
        base[key] = value;
        base
    };
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let requests = [
        ("textDocument/completion", at(4, 17)),
        ("textDocument/hover", at(3, 5)),
        ("textDocument/definition", at(3, 5)),
        ("textDocument/references", with(&at(3, 5), "context", json!({ "includeDeclaration": true }))),
        ("textDocument/rename", with(&at(3, 5), "newName", json!("sure"))),
        ("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri(pipeline) } })),
        ("workspace/symbol", json!({ "query": "rule" })),
        ("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": uri(pipeline) } })),
        ("textDocument/foldingRange", of.clone()),
        ("textDocument/codeLens", json!({ "textDocument": { "uri": uri(pipeline) } })),
        ("textDocument/codeAction", with(&with(&of, "range", range), "context", json!({ "diagnostics": [] }))),
        ("textDocument/formatting", with(&of, "options", options)),
    ];
    let mut found: Vec<(&'static str, f64)> =
        requests.iter().map(|(method, params)| (*method, client.took(method, params).as_secs_f64() * 1e3)).collect();
    let mut edits = Vec::new();
    for edit in 0..5 {
        client.version += 1;
        let document = json!({ "uri": uri(script), "version": client.version });
        let place = json!({ "line": 0, "character": 4 });
        let change = json!({ "range": { "start": place, "end": place }, "text": format!("{edit}") });
        let start = Instant::now();
        client.note("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        client.ask("asterisk/state", json!({}));
        edits.push(start.elapsed());
    }
    edits.sort();
    found.push(("diagnostics after an edit", edits[edits.len() / 2].as_secs_f64() * 1e3));
    client.ask("shutdown", Value::Null);
    client.note("exit", Value::Null);
    drop(client);
    server.join().expect("a server").expect("a session");
    found
}

fn main() -> ExitCode {
    let mut ends = Vec::new();
    for (name, files, bound) in [("the bundled project and one rule", 1, 50.0), ("a project of 1 000 scripts", FILES, 200.0)] {
        let mut table = Table::new(&format!("the language server over {name}"), "ms");
        for (request, ms) in latencies(files) {
            if request.starts_with("diagnostics") { table.plain(request, ms) } else { table.at_most(request, ms, bound) }
        }
        ends.push(table.finish());
    }
    harness::worst(ends)
}
