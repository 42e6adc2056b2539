//! A model behind HTTP: a real server on the loopback with `OpenAI`'s chat completions API, with its failures.

use crate::harness::{PATIENCE, Project, Ran};
use crate::server::{Server, private, read, says, says_json};
use serde_json::json;
use std::io::Write as _;
use std::net::TcpListener;
use std::time::Instant;

const PIPELINE: &str = "\
pipeline: two
nodes:
  - name: look
    schema: { found: bool, why?: string }
edges:
  - { id: E1, from: look, to: _done }
start: look
done: _done
";

const SECRET: &str = "sk-very-secret-42";

/// A run that is interrupted while a server thinks stops waiting at once; it resumes with the same request.
#[test]
fn an_interrupted_call_is_made_again_under_its_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let project = project_at(&url, "");
    let mut child = project.start(&["run", "two.yaml", "--input", "none", "--via", "model"]);
    let (stream, _) = listener.accept().unwrap();
    let first = read(&stream).unwrap();
    let began = Instant::now();
    crate::tools::interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    drop(stream);
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let seen = read(&stream).unwrap();
        drop(stream.write_all(completion("{\"found\": false}").as_bytes()));
        seen
    });
    project.asterisk(&["run", "--resume", "latest"]).exits(0);
    let again = answering.join().unwrap();
    assert_eq!(first.header("idempotency-key"), again.header("idempotency-key"));
    assert_eq!(first.body, again.body);
}

/// A completion with that content.
fn completion(content: &str) -> String {
    let body = json!({
        "choices": [{ "message": { "role": "assistant", "content": content } }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 10 },
    });
    says_json(&body)
}

fn project(server: &Server, more: &str) -> Project {
    project_at(&format!("{}/v1", server.url), more)
}

fn project_at(url: &str, more: &str) -> Project {
    let project = Project::with(&[("two.yaml", PIPELINE)]);
    let entry = format!(
        "agents:\n  model: {{ kind: http, url: '{url}', model: tiny, secret: {{ file: key }}, retry: {{ wait: 10ms }}{more} }}\n"
    );
    project.file("asterisk.yaml", entry);
    let key = project.file("key", format!("{SECRET}\n"));
    private(&key, 0o600);
    project
}

fn run(project: &Project) -> Ran {
    project.asterisk(&["run", "two.yaml", "--input", "none", "--via", "model", "--format", "json"])
}

#[test]
fn a_model_answers_in_the_form_of_the_node() {
    let server = Server::new(&[&completion("Here:\n```json\n{\"found\": true}\n```")]);
    let project = project(&server, "");
    let ran = run(&project).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1"]));
    let seen = server.seen();
    let [request] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {SECRET}")));
    assert_eq!(request.body["model"], "tiny");
    let format = &request.body["response_format"]["json_schema"];
    assert_eq!((&format["name"], &format["schema"]["required"]), (&json!("look"), &json!(["found"])));
    assert!(request.body["messages"][0]["content"].as_str().unwrap().contains("found"), "{:?}", request.body);
    // The reported usage is recorded.
    assert!(ran.text().contains("1000") || project.asterisk(&["explain", "latest"]).text().contains("1000"));
}

#[test]
fn a_busy_server_is_retried_with_the_same_key() {
    let busy = says("429 Too Many Requests", "Retry-After: 0\r\n", "slow down");
    let down = says("503 Service Unavailable", "", "");
    let server = Server::new(&[&busy, &down, &completion("{\"found\": false}")]);
    run(&project(&server, "")).exits(0);
    let seen = server.seen();
    let keys: Vec<_> = seen.iter().map(|request| request.header("idempotency-key").unwrap()).collect();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

/// A model whose Retry-After exceeds `retry.most` is skipped if another is available.
#[test]
fn a_long_retry_after_moves_on_to_the_next_model() {
    for (after, times) in [("61", 1), ("60", 3)] {
        let busy = Server::new(&[&says("429 Too Many Requests", &format!("Retry-After: {after}\r\n"), "slow down")]);
        let project = project(&busy, "");
        project.file("good.sh", "cat > /dev/null; echo '{\"found\": false}'\n");
        let settings = project.read("asterisk.yaml") + "  good: { kind: exec, command: [sh, good.sh] }\n";
        project.file("asterisk.yaml", settings);
        let ran = project.asterisk(&["run", "two.yaml", "--input", "none", "--via", "model,good", "--format", "json"]).exits(0);
        assert_eq!(busy.seen().len(), times, "after {after} s: {}", ran.text());
    }
}

#[test]
fn an_answer_of_the_wrong_form_is_returned_with_its_errors() {
    let server = Server::new(&[&completion("{\"fuond\": true}"), &completion("no JSON"), &completion("{\"found\": true}")]);
    run(&project(&server, "")).exits(0);
    let seen = server.seen();
    let prompt = |at: usize| seen[at].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(prompt(1).contains("did you mean `found`?"), "{}", prompt(1));
    assert!(prompt(2).contains("no JSON object"), "{}", prompt(2));
}

#[test]
fn request_errors_show_a_remedy_and_no_secret() {
    let refused = says("401 Unauthorized", "", &format!("the key {SECRET} is not known"));
    let moved = says("302 Found", "Location: http://127.0.0.1:9/\r\n", "");
    let long = completion(&"x".repeat(5000));
    let mut all = Vec::new();
    for (answer, more) in [(&refused, ""), (&moved, ""), (&long, ", max_bytes: 1000, retry: { attempts: 1 }")] {
        let server = Server::new(&[answer]);
        let project = project(&server, more);
        if more.contains("retry") {
            let text = project.read("asterisk.yaml").replace(", retry: { wait: 10ms }", "");
            project.file("asterisk.yaml", text);
        }
        let ran = run(&project);
        let text = ran.text().replace(&server.url, "http://SERVER");
        all.push(text.lines().filter(|line| !line.contains("\"run\"")).collect::<Vec<_>>().join("\n"));
        assert_eq!(server.seen().len(), 1);
        let store = std::fs::read(project.root().join(".asterisk/asterisk.db")).unwrap();
        assert!(!store.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
    }
    let server = Server::new(&[&refused]);
    let open = project(&server, "");
    private(&open.root().join("key"), 0o644);
    let ran = run(&open);
    all.push(
        ran.text().replace(&server.url, "http://SERVER").replace(&open.root().join("key").display().to_string(), "PROJECT/key"),
    );
    assert!(server.seen().is_empty());
    let all = all.join("\n");
    assert!(!all.contains(SECRET), "{all}");
    for wanted in ["it returned 401", "check `secret:`", "redirects are not followed", "longer than 1000 bytes", "chmod 600"] {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
}

#[test]
fn invalid_model_settings_are_reported_with_their_location() {
    let wrong = |entry: &str| {
        let project = Project::with(&[("two.yaml", PIPELINE), ("asterisk.yaml", &format!("agents:\n  m: {entry}\n"))]);
        run(&project).text()
    };
    for (entry, wanted) in [
        ("{ kind: http }", "lacks a `url`"),
        ("{ kind: http, url: 'http://x/v1', secret: sk-1 }", "is written in the file"),
        ("{ kind: http, url: 'http://x/v1', secret: { env: A, file: b } }", "is unclear"),
    ] {
        assert!(wrong(entry).contains(wanted), "{}", wrong(entry));
    }
}
