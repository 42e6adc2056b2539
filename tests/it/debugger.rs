//! `asterisk dap`: a client's messages, and what comes back.

use crate::harness::Project;
use serde_json::{Value, json};
use std::fmt::Write as _;

const PIPELINE: &str = "\
pipeline: door
vars: { sure: 0.8 }
nodes:
  - { name: look, schema: { confidence: { type: number, min: 0, max: 1 } } }
  - { name: open }
edges:
  - { id: D1, from: look, to: open, rule: \"rules/door.rhai#sure\" }
  - { id: D2, from: look, to: _done }
  - { id: D3, from: open, to: _done }
start: look
done: _done
";
const RULES: &str = "\
/// Whether the confidence suffices to open.
fn sure(artifact, state, vars) {
    let least = vars.sure;
    artifact.confidence >= least
}
";

/// A project with a recorded run of one case.
fn door() -> Project {
    let project = Project::with(&[
        ("pipelines/door.yaml", PIPELINE),
        ("scripts/rules/door.rhai", RULES),
        ("answers.json", r#"{ "*": { "look": [{ "confidence": 0.9 }], "open": [{}] } }"#),
    ]);
    project.asterisk(&["run", "door", "--input", "none", "--stub", "answers.json"]).ok();
    project
}

/// What the program replies to these requests.
fn conversation(project: &Project, args: &[&str], requests: &[(&str, Value)]) -> Vec<Value> {
    let mut input = String::new();
    for (seq, (command, arguments)) in (1..).zip(requests) {
        let text = json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments }).to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }
    let ran = project.call(&[&["dap"], args].concat()).reading(&input).ran().exits(0);
    assert_eq!(ran.stderr, "");
    let mut rest = ran.stdout.as_str();
    let mut messages = Vec::new();
    // The harness shortens paths, so that the announced lengths do not fit.
    while let Some((_, body)) = rest.split_once("\r\n\r\n") {
        let end = body.find("Content-Length: ").unwrap_or(body.len());
        messages.push(serde_json::from_str(&body[..end]).unwrap());
        rest = &body[end..];
    }
    messages
}

fn response<'m>(messages: &'m [Value], command: &str) -> &'m Value {
    let is_it = |message: &&Value| message["type"] == "response" && message["command"] == command;
    messages.iter().rfind(is_it).unwrap_or_else(|| panic!("no response to {command}: {messages:#?}"))
}

fn events<'m>(messages: &'m [Value], name: &str) -> Vec<&'m Value> {
    messages.iter().filter(|message| message["event"] == name).map(|message| &message["body"]).collect()
}

#[test]
fn a_recorded_case_is_debugged_from_its_entry_to_its_end() {
    let project = door();
    let rules = project.root().join("scripts/rules/door.rhai");
    let thread = || json!({ "threadId": 1 });
    let messages = conversation(
        &project,
        &[],
        &[
            ("initialize", json!({ "adapterID": "asterisk", "clientName": "test" })),
            ("launch", json!({ "type": "asterisk", "request": "launch", "run": "latest", "case": 1 })),
            ("setBreakpoints", json!({ "source": { "path": rules }, "breakpoints": [{ "line": 4, "condition": "least < 1" }] })),
            ("configurationDone", Value::Null),
            ("threads", Value::Null),
            ("continue", thread()),
            ("stackTrace", json!({ "threadId": 1, "startFrame": 0, "levels": 20 })),
            ("scopes", json!({ "frameId": 1 })),
            ("variables", json!({ "variablesReference": 1 })),
            ("evaluate", json!({ "expression": "artifact.confidence - least > 0.05", "frameId": 1, "context": "watch" })),
            ("stepBack", thread()),
            ("continue", thread()),
            ("continue", thread()),
            ("disconnect", json!({})),
        ],
    );
    assert!(
        messages.iter().filter(|message| message["type"] == "response").all(|message| message["success"] == true),
        "{messages:#?}"
    );
    let numbers: Vec<u64> = messages.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(1..=messages.len() as u64), "{numbers:?}");
    let capabilities = &response(&messages, "initialize")["body"];
    assert_eq!((&capabilities["supportsStepBack"], &capabilities["supportsSetVariable"]), (&json!(true), &json!(false)));
    let set = &response(&messages, "setBreakpoints")["body"]["breakpoints"][0];
    assert_eq!((&set["verified"], &set["line"]), (&json!(true), &json!(4)));
    let frames = response(&messages, "stackTrace")["body"]["stackFrames"].as_array().unwrap();
    let shown = |frame: &Value| {
        let path = frame["source"]["path"].as_str().unwrap();
        format!("{} {path}:{}:{}", frame["name"].as_str().unwrap(), frame["line"], frame["column"])
    };
    assert_eq!(
        frames.iter().map(shown).collect::<Vec<_>>(),
        [
            "sure [DIR]/scripts/rules/door.rhai:4:5",
            "edge D1 [DIR]/pipelines/door.yaml:7:5",
            "step 1 look [DIR]/pipelines/door.yaml:4:13"
        ]
    );
    let scopes = response(&messages, "scopes")["body"]["scopes"].as_array().unwrap();
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope["name"].as_str().unwrap()).collect();
    assert_eq!(scopes[..4], ["Locals", "Artifact", "State", "Vars"]);
    let local = &response(&messages, "variables")["body"]["variables"][0];
    assert_eq!((&local["name"], &local["value"]), (&json!("least"), &json!("0.8")));
    assert_eq!(response(&messages, "evaluate")["body"]["result"], "true");
    let reasons: Vec<&str> = events(&messages, "stopped").iter().map(|body| body["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["entry", "breakpoint", "step", "breakpoint"]);
    let console: String = events(&messages, "output").iter().map(|body| body["output"].as_str().unwrap()).collect();
    assert!(console.contains("1 look: D1 fired -> open: sure 0.8, confidence 0.9\n"), "{console}");
    assert_eq!(events(&messages, "exited"), [&json!({ "exitCode": 0 })]);
    assert_eq!(events(&messages, "terminated").len(), 1);
}

#[test]
fn a_client_may_name_another_project_and_store() {
    let project = door();
    let elsewhere = Project::new();
    let launch = |arguments: Value| {
        let requests = [("initialize", json!({})), ("launch", arguments), ("configurationDone", Value::Null)];
        response(&conversation(&elsewhere, &[], &requests), "launch").clone()
    };
    let refused = launch(json!({}));
    assert_eq!((&refused["success"], &refused["body"]["error"]["showUser"]), (&json!(false), &json!(true)));
    assert!(refused["message"].as_str().unwrap().contains("store"), "{refused}");
    assert_eq!(launch(json!({ "project": project.root() }))["success"], true);
    let store = project.root().join(".asterisk/asterisk.db");
    assert_eq!(launch(json!({ "store": store }))["success"], true);
    let unknown = launch(json!({ "project": project.root(), "case": "nothing like it" }));
    assert!(unknown["message"].as_str().unwrap().contains("nothing like it"), "{unknown}");
    let requests = [("initialize", json!({})), ("launch", json!({}))];
    let by_flag = conversation(&elsewhere, &["--store", store.to_str().unwrap()], &requests);
    assert_eq!(response(&by_flag, "launch")["success"], true);
}

/// Every rule of the bundled pipeline can be stepped through, from either side, and shows the recorded outcomes.
#[test]
fn the_bundled_example_is_walked_to_its_end_and_back() {
    let project = Project::new();
    project.asterisk(&["run"]).ok();
    let thread = || json!({ "threadId": 1 });
    let mut requests =
        vec![("initialize", json!({})), ("launch", json!({ "stopAtEnd": true })), ("configurationDone", Value::Null)];
    requests.extend((0..40).map(|_| ("stepIn", thread())));
    requests.extend((0..40).map(|_| ("stepBack", json!({ "threadId": 1, "granularity": "instruction" }))));
    requests.extend([
        ("stackTrace", thread()),
        ("continue", thread()),
        ("reverseContinue", thread()),
        ("loadedSources", Value::Null),
    ]);
    let messages = conversation(&project, &[], &requests);
    assert!(messages.iter().filter(|message| message["type"] == "response").all(|message| message["success"] == true));
    let frames = &response(&messages, "stackTrace")["body"]["stackFrames"];
    assert_eq!((frames.as_array().unwrap().len(), &frames[0]["name"]), (1, &json!("step 1 recall")));
    let console: String = events(&messages, "output").iter().map(|body| body["output"].as_str().unwrap()).collect();
    assert!(!console.contains("fires now"), "what is evaluated again is what was recorded: {console}");
    assert!(console.contains("1 recall: verdict "), "{console}");
    let reasons: Vec<&str> = events(&messages, "stopped").iter().map(|body| body["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons[reasons.len() - 2..], ["end of the case", "entry"]);
    let sources = response(&messages, "loadedSources")["body"]["sources"].as_array().unwrap();
    assert!(sources.iter().any(|source| source["name"] == "rules/rca.rhai" && source["sourceReference"].is_number()));
}
