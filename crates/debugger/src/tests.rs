//! Conversations with the server, in this process.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use super::{DebugServer, ProjectChoice};
use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_diag::Source;
use asterisk_session::{AuditSettings, RunInputs, RunSettings, RunSpec, Session, Setup, TextSettings, Via};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const PIPELINE: &str = "\
pipeline: door
vars: { sure: 0.8 }
nodes:
  - name: look
    code: L1
    schema: { confidence: { type: number, min: 0, max: 1 }, tries: list }
  - name: open
  - name: ask
edges:
  - { id: D1, from: look, to: open, condition: \"confidence >= vars.sure\" }
  - id: D2
    from: look
    to: ask
    rule: rules/door.rhai#unsure
  - { id: D3, from: open, to: _done }
  - { id: D4, from: ask, to: look, loop: true, counter: asked, condition: \"state.loops.asked < 2\" }
  - { id: D5, from: ask, to: _done }
start: look
done: _done
";

const RULES: &str = "\
/// Too unsure to open: ask.
fn unsure(artifact, state, vars) {
    let count = 0;
    for turn in artifact.tries {
        count += weight(turn);
    }
    if count > 99 {
        return false;
    }
    #{ because: `weight ${count}` }
}

fn weight(turn) {
    let one = 1;
    turn * one
}
";

const ANSWERS: &str =
    r#"{"*": {"look": [{"confidence": 0.5, "tries": [1, 2, 3]}, {"confidence": 0.9, "tries": []}], "ask": [{}], "open": [{}]}}"#;

/// A directory with a recorded run.
struct Ground {
    dir: tempfile::TempDir,
    session: Session,
}

impl Ground {
    fn new(rules: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("pipelines/door.yaml", PIPELINE);
        write("scripts/rules/door.rhai", rules);
        let clock = Arc::new(FixedClock::new(Timestamp::from_millis(1_700_000_000_000), 7));
        let setup = Setup {
            pipelines: Some(dir.path().join("pipelines")),
            texts: TextSettings { scripts: Some(dir.path().join("scripts")), ..TextSettings::default() },
            script_time: Some(Duration::from_secs(60)),
            audit: AuditSettings { log: dir.path().join("audit.jsonl"), rules: None },
            ..Setup::bare(dir.path().to_owned(), clock)
        };
        let session = Session::new(setup);
        let settings = RunSettings { pipeline: Some("door".into()), via: Via::stub(), ..RunSettings::default() };
        let stub = Some(Source::new("answers.json", ANSWERS));
        let spec = RunSpec { settings, stub, ..RunSpec::of(RunInputs::None) };
        session.run(&spec, &(), &AtomicBool::new(false)).unwrap();
        Self { dir, session }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }
}

/// A client of a server.
struct Client<'o> {
    server: DebugServer<'o>,
    seq: i64,
    events: Vec<Value>,
}

impl<'o> Client<'o> {
    fn new(open: &'o super::OpenProject<'o>) -> Self {
        let mut client = Self { server: DebugServer::new(open), seq: 0, events: Vec::new() };
        client.ask("initialize", json!({ "adapterID": "asterisk" }));
        client
    }

    fn send(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let request = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        let mut replies = self.server.handle(&request).into_iter();
        let response = replies.next().unwrap();
        assert_eq!(
            (&response["type"], &response["request_seq"], &response["command"]),
            (&json!("response"), &json!(self.seq), &json!(command))
        );
        self.events.extend(replies);
        response
    }

    #[track_caller]
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.send(command, arguments);
        assert_eq!(response["success"], true, "{response:#}");
        response["body"].clone()
    }

    /// Launches, sets these breakpoints by file and name, and begins.
    fn begin(&mut self, launch: Value, lines: &[(&Path, Value)], names: Value) -> Vec<Value> {
        self.ask("launch", launch);
        let mut set = Vec::new();
        for (path, breakpoints) in lines {
            let body = self.ask("setBreakpoints", json!({ "source": { "path": path }, "breakpoints": breakpoints }));
            set.extend(body["breakpoints"].as_array().unwrap().clone());
        }
        let body = self.ask("setFunctionBreakpoints", json!({ "breakpoints": names }));
        set.extend(body["breakpoints"].as_array().unwrap().clone());
        self.ask("setExceptionBreakpoints", json!({ "filters": ["failedRules"] }));
        self.ask("configurationDone", json!({}));
        set
    }

    /// Moves, and returns where it stopped: the reason, and the innermost frame.
    #[track_caller]
    fn go(&mut self, command: &str) -> String {
        self.events.clear();
        self.ask(command, json!({ "threadId": 1 }));
        self.stopped()
    }

    #[track_caller]
    fn stopped(&mut self) -> String {
        let event =
            self.events.iter().rfind(|event| ["stopped", "terminated"].iter().any(|name| event["event"] == *name)).unwrap();
        if event["event"] == "terminated" {
            return "terminated".into();
        }
        let reason = event["body"]["reason"].as_str().unwrap().to_owned();
        format!("{reason} {}", self.here())
    }

    fn here(&mut self) -> String {
        let frame = self.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0].clone();
        format!("{} {}:{}", frame["name"].as_str().unwrap(), frame["source"]["name"].as_str().unwrap(), frame["line"])
    }

    fn console(&self) -> String {
        let lines = self.events.iter().filter(|event| event["event"] == "output");
        lines.map(|event| event["body"]["output"].as_str().unwrap()).collect()
    }

    fn scope(&mut self, frame: i64, name: &str) -> Value {
        let scopes = self.ask("scopes", json!({ "frameId": frame }))["scopes"].clone();
        let scope = scopes.as_array().unwrap().iter().find(|scope| scope["name"] == name).cloned();
        let reference = scope.unwrap_or_else(|| panic!("{name}: {scopes}"))["variablesReference"].clone();
        self.ask("variables", json!({ "variablesReference": reference }))["variables"].clone()
    }

    /// The variables of a scope, in one line.
    fn shown(&mut self, frame: i64, name: &str) -> String {
        let variables = self.scope(frame, name);
        let shown = |variable: &Value| format!("{}={}", variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
        variables.as_array().unwrap().iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn value(&mut self, expression: &str) -> String {
        let response = self.send("evaluate", json!({ "expression": expression, "frameId": 1, "context": "watch" }));
        response["body"]["result"].as_str().or(response["message"].as_str()).unwrap().to_owned()
    }
}

#[test]
fn a_decision_is_walked_forwards_and_backwards() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    client.begin(json!({}), &[], json!([]));
    assert_eq!(client.stopped(), "entry step 1 look door.yaml:4");
    assert_eq!(client.ask("threads", json!({}))["threads"][0]["name"], "case-1 (case-1)");
    assert_eq!(client.go("stepIn"), "step edge D1 door.yaml:10");
    assert_eq!(client.go("stepIn"), "step condition door.yaml:10");
    assert_eq!(client.go("stepIn"), "step edge D1 door.yaml:10");
    assert_eq!(client.console(), "1 look: D1 false: artifact.confidence 0.5, vars.sure 0.8\n");
    assert_eq!(client.shown(1, "Outcome"), "outcome=\"false\" because=\"artifact.confidence 0.5, vars.sure 0.8\"");
    assert_eq!(client.go("next"), "step edge D2 door.yaml:11");
    assert_eq!(client.go("stepIn"), "step unsure door.rhai:3");
    for line in [4, 5] {
        assert_eq!(client.go("next"), format!("step unsure door.rhai:{line}"));
    }
    assert_eq!(client.shown(1, "Locals"), "count=0 turn=1");
    assert_eq!(client.shown(1, "Artifact"), "confidence=0.5 tries=[1, 2, 3]");
    assert_eq!(client.go("stepIn"), "step weight door.rhai:14");
    assert_eq!(client.go("next"), "step weight door.rhai:15");
    assert_eq!((client.shown(1, "Locals"), client.shown(2, "Locals")), ("turn=1 one=1".into(), "count=0 turn=1".into()));
    assert_eq!(client.go("stepOut"), "step unsure door.rhai:5");
    assert_eq!(client.shown(1, "Locals"), "count=1 turn=2");
    assert_eq!(client.go("stepBack"), "step unsure door.rhai:5", "over the call");
    assert_eq!(client.shown(1, "Locals"), "count=0 turn=1");
    assert_eq!(client.go("stepBack"), "step unsure door.rhai:4");
    assert_eq!(client.go("stepOut"), "step edge D2 door.yaml:11");
    assert_eq!(client.shown(1, "Outcome"), "outcome=\"fired\" because=\"weight 6\" to=\"ask\"");
    assert_eq!(client.go("next"), "step step 2 ask door.yaml:8");
    assert_eq!(client.go("stepBack"), "step edge D2 door.yaml:11");
    assert_eq!(client.go("stepBack"), "step unsure door.rhai:10", "into what was evaluated last");
    assert_eq!(client.go("reverseContinue"), "entry step 1 look door.yaml:4");
    assert_eq!(client.go("next"), "step step 2 ask door.yaml:8");
    assert_eq!(client.go("continue"), "terminated");
    assert!(client.console().ends_with("4 open: D3 fired -> _done: it has no condition\ncase-1: done\n"), "{}", client.console());
    assert_eq!(client.events.iter().find(|event| event["event"] == "exited").unwrap()["body"]["exitCode"], 0);
    assert_eq!(client.send("next", json!({ "threadId": 1 }))["message"], "no case is being debugged");
    client.events.clear();
    client.ask("restart", json!({}));
    assert_eq!(client.stopped(), "entry step 1 look door.yaml:4");
}

#[test]
fn a_line_with_several_statements_is_one_stop() {
    let one_line = RULES.replace("let count = 0;\n    for", "let count = 0; for").replace(
        "turn in artifact.tries {\n        count += weight(turn);\n    }",
        "turn in artifact.tries { let more = weight(turn); count += more; }",
    );
    let ground = Ground::new(&one_line);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    client.begin(
        json!({ "stopOnEntry": false }),
        &[(&ground.path("scripts/rules/door.rhai"), json!([{ "line": 3 }]))],
        json!([]),
    );
    assert_eq!(client.stopped(), "breakpoint unsure door.rhai:3");
    // Each turn of the loop enters the line again.
    for locals in ["count=1 turn=2", "count=3 turn=3"] {
        assert_eq!(client.go("continue"), "breakpoint unsure door.rhai:3");
        assert_eq!(client.shown(1, "Locals"), locals);
    }
    assert_eq!(client.go("continue"), "terminated");
}

#[test]
fn breakpoints_stop_at_lines_edges_nodes_and_names() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let (rules, pipeline) = (ground.path("scripts/rules/door.rhai"), ground.path("pipelines/door.yaml"));
    let run = |lines: &[(&Path, Value)], names: Value| {
        let mut client = Client::new(&open);
        let set = client.begin(json!({ "stopOnEntry": false }), lines, names);
        let set: Vec<String> = set.iter().map(|set| format!("{} {}", set["verified"], set["line"])).collect();
        let mut stops = vec![client.stopped()];
        while stops.last().unwrap() != "terminated" && stops.len() < 20 {
            let next = client.go("continue");
            stops.push(next);
        }
        (set, stops)
    };
    let line = |line: i64| json!([{ "line": line }]);
    let rhai = |line: usize| format!("breakpoint unsure door.rhai:{line}");
    let ended = || "terminated".to_owned();
    assert_eq!(run(&[(&rules, line(2))], json!([])), (vec!["true 3".into()], vec![rhai(3), ended()]), "moved to a statement");
    assert_eq!(run(&[(&rules, line(5))], json!([])).1, [rhai(5), rhai(5), rhai(5), ended()]);
    assert_eq!(run(&[(&rules, line(40))], json!([])), (vec!["false 40".into()], vec![ended()]));
    let conditional = |condition: &str| json!([{ "line": 5, "condition": condition }]);
    assert_eq!(run(&[(&rules, conditional("turn == 2"))], json!([])).1, [rhai(5), ended()]);
    assert_eq!(run(&[(&rules, conditional("turn > vars.sure && artifact.tries.len() == 3"))], json!([])).1.len(), 4);
    assert_eq!(run(&[(&rules, json!([{ "line": 5, "hitCondition": "> 1" }]))], json!([])).1, [rhai(5), rhai(5), ended()]);
    assert_eq!(run(&[(&rules, json!([{ "line": 5, "hitCondition": "% 3" }]))], json!([])).1, [rhai(5), ended()]);
    assert_eq!(run(&[(&rules, json!([{ "line": 5, "hitCondition": "often" }]))], json!([])).0, ["false 5"]);
    // A node, in its second line; an edge that fires; one that never does.
    let at = |name: &str, line: usize| format!("breakpoint {name} door.yaml:{line}");
    assert_eq!(run(&[(&pipeline, line(5))], json!([])).1, [at("step 1 look", 4), at("step 3 look", 4), ended()]);
    assert_eq!(run(&[(&pipeline, line(10))], json!([])).1, [at("edge D1", 10), ended()]);
    assert_eq!(run(&[(&pipeline, line(13))], json!([])).1, [at("edge D2", 11), ended()]);
    assert_eq!(run(&[(&pipeline, line(17))], json!([])).1, [ended()]);
    assert_eq!(run(&[(&ground.path("elsewhere.rhai"), line(3))], json!([])).0, ["false 3"]);
    // Names.
    let named = |name: &str| json!([{ "name": name }]);
    let function = |frame: &str| format!("function breakpoint {frame}");
    assert_eq!(run(&[], named("weight")).1[0], function("weight door.rhai:14"));
    assert_eq!(run(&[], named("rules/door.rhai#unsure")).1, [function("unsure door.rhai:3"), ended()]);
    assert_eq!(run(&[], named("D1")).1, [function("edge D1 door.yaml:10"), function("edge D1 door.yaml:10"), ended()]);
    assert_eq!(run(&[], named("L1")).1.len(), 3);
    assert_eq!(run(&[], named("nothing")), (vec!["false null".into()], vec![ended()]));
}

#[test]
fn counts_of_hits_are_the_same_from_either_side() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let rules = ground.path("scripts/rules/door.rhai");
    let mut client = Client::new(&open);
    client.begin(json!({ "stopAtEnd": true }), &[(&rules, json!([{ "line": 5, "hitCondition": "== 2" }]))], json!([]));
    assert_eq!(client.go("continue"), "breakpoint unsure door.rhai:5");
    assert_eq!(client.value("turn"), "2");
    assert_eq!(client.go("continue"), "end of the case end: done door.yaml:19");
    assert_eq!(client.go("reverseContinue"), "breakpoint unsure door.rhai:5");
    assert_eq!(client.value("turn"), "2");
}

#[test]
fn log_points_report_and_do_not_stop() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let rules = ground.path("scripts/rules/door.rhai");
    let mut client = Client::new(&open);
    let logged = json!([{ "line": 5, "logMessage": "turn {turn}, {count + 1} of {artifact.tries.len()} \\{x} {nope}" }]);
    client.begin(json!({ "stopOnEntry": false }), &[(&rules, logged)], json!([]));
    assert_eq!(client.stopped(), "terminated");
    let console = client.console();
    assert!(console.contains("turn 1, 1 of 3 {x} {nope: "), "{console}");
    assert!(console.contains("turn 3, 4 of 3 "), "{console}");
}

#[test]
fn expressions_are_evaluated_in_a_frame() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    client.begin(json!({}), &[], json!([{ "name": "weight" }]));
    client.go("continue");
    assert_eq!(client.value("turn + 1"), "2");
    assert_eq!(client.value("vars.sure * 2"), "1.6");
    assert_eq!(client.value("artifact.tries.map(|t| t * turn)"), "[1, 2, 3]");
    assert_eq!(client.value("confidence"), "0.5", "a field of the artifact, as in conditions");
    assert_eq!(client.value("state.node"), "\"look\"");
    for (wrong, message) in [("count", "count"), ("turn +", ""), ("", "empty"), ("loop { }", ""), ("throw \"no\"", "no")] {
        let response = client.send("evaluate", json!({ "expression": wrong, "frameId": 1 }));
        assert_eq!(response["success"], false, "{wrong}");
        assert!(response["message"].as_str().unwrap().contains(message), "{wrong}: {response}");
    }
    let response = client.ask("evaluate", json!({ "expression": "count", "frameId": 2 }));
    assert_eq!(response["result"], "0", "of the caller");
    let list = client.ask(
        "evaluate",
        json!({ "expression": "let all = []; for n in 0..250 { all.push(n); } all", "frameId": 1, "context": "repl" }),
    );
    assert_eq!(list["indexedVariables"], 250);
    let page = json!({ "variablesReference": list["variablesReference"], "filter": "indexed", "start": 200, "count": 2 });
    let page = client.ask("variables", page)["variables"].clone();
    assert_eq!((&page[0]["name"], &page[1]["value"], page.as_array().unwrap().len()), (&json!("[200]"), &json!("201"), 2));
    let text = client.ask("evaluate", json!({ "expression": "artifact", "frameId": 1, "context": "clipboard" }));
    assert_eq!(serde_json::from_str::<Value>(text["result"].as_str().unwrap()).unwrap()["tries"], json!([1, 2, 3]));
}

#[test]
fn a_rule_that_fails_stops_where_it_failed() {
    let ground = Ground::new(&RULES.replace("turn * one", "turn.nothing"));
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    client.begin(json!({ "stopOnEntry": false }), &[], json!([]));
    assert_eq!(client.stopped(), "exception weight door.rhai:15");
    let info = client.ask("exceptionInfo", json!({ "threadId": 1 }));
    assert!(info["details"]["stackTrace"].as_str().unwrap().contains("rules/door.rhai:15:"), "{info:#}");
    assert_eq!(client.go("continue"), "terminated");
    assert_eq!(client.events.iter().find(|event| event["event"] == "exited").unwrap()["body"]["exitCode"], 1);
}

#[test]
fn edited_rules_are_evaluated_on_recorded_inputs() {
    let ground = Ground::new(RULES);
    let rules = ground.path("scripts/rules/door.rhai");
    std::fs::write(&rules, RULES.replace("count > 99", "count > 5")).unwrap();
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    let set = client.begin(json!({ "stopOnEntry": false }), &[(&rules, json!([{ "line": 8 }]))], json!([]));
    assert_eq!(set[0]["message"], "the case used another version of this file");
    assert_eq!(client.stopped(), "terminated");
    let sources = client.ask("loadedSources", json!({}))["sources"].clone();
    let old = sources.as_array().unwrap().iter().find(|source| source["name"] == "rules/door.rhai").unwrap();
    let text = client.ask("source", json!({ "sourceReference": old["sourceReference"] }));
    assert_eq!(text["content"], RULES);
    let mut client = Client::new(&open);
    client.begin(json!({ "stopOnEntry": false, "texts": "current" }), &[(&rules, json!([{ "line": 8 }]))], json!([]));
    assert_eq!(client.stopped(), "breakpoint unsure door.rhai:8");
    assert!(client.console().contains("1 look: no edge fires now; recorded: D2"), "{}", client.console());
    assert_eq!(client.value("count"), "6");
}

#[test]
fn a_launch_is_walked_and_debugged() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    client.begin(json!({ "input": "example", "case": "880101" }), &[], json!([{ "name": "triage" }]));
    assert!(client.stopped().starts_with("entry step 1 recall "));
    assert!(client.go("continue").starts_with("function breakpoint step 2 triage "));
    assert_eq!(client.go("continue"), "function breakpoint triage agents/triage.rhai:13");
    assert!(client.shown(1, "Params").starts_with("answer=#{"));
    assert_eq!(client.value("params.identity.node"), "\"triage\"");
    assert_eq!(client.go("continue"), "terminated");
}

#[test]
fn unknown_requests_and_references_are_refused() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let mut client = Client::new(&open);
    for command in ["stackTrace", "next", "pause", "loadedSources", "exceptionInfo", "restart"] {
        assert_eq!(client.send(command, json!({}))["message"], "no case is being debugged", "{command}");
    }
    let response = client.send("launch", json!({ "run": "no-such-run" }));
    assert!(
        response["message"].as_str().unwrap().contains("no-such-run") && response["body"]["error"]["showUser"] == true,
        "{response}"
    );
    client.begin(json!({}), &[], json!([]));
    for (command, arguments, message) in [
        ("gotoTargets", json!({}), "the request `gotoTargets` is not supported"),
        ("scopes", json!({ "frameId": 99 }), "unknown frameId"),
        ("scopes", json!({}), "the arguments of `scopes` are malformed: missing field `frameId`"),
        ("variables", json!({ "variablesReference": 99 }), "unknown variablesReference"),
        ("variables", json!({ "variablesReference": i64::MIN }), "unknown variablesReference"),
        ("source", json!({ "sourceReference": 9999 }), "unknown sourceReference"),
        ("exceptionInfo", json!({}), "nothing has failed here"),
    ] {
        assert_eq!(client.send(command, arguments)["message"], message, "{command}");
    }
}

const COMMANDS: [&str; 24] = [
    "initialize",
    "launch",
    "attach",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setExceptionBreakpoints",
    "breakpointLocations",
    "configurationDone",
    "threads",
    "stackTrace",
    "scopes",
    "variables",
    "evaluate",
    "continue",
    "next",
    "stepIn",
    "stepOut",
    "stepBack",
    "reverseContinue",
    "pause",
    "source",
    "loadedSources",
    "exceptionInfo",
    "restart",
];

/// Any JSON, with the names of arguments as keys.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-2i64..9).prop_map(Value::from),
        "[a-z{}>%= 0-9.]{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop::sample::select(vec![
            "source",
            "path",
            "breakpoints",
            "line",
            "lines",
            "condition",
            "hitCondition",
            "logMessage",
            "frameId",
            "expression",
            "variablesReference",
            "start",
            "count",
            "filter",
            "startFrame",
            "levels",
            "name",
            "filters",
            "sourceReference",
            "arguments",
            "granularity",
            "context",
            "texts",
            "stopOnEntry",
            "linesStartAt1",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..5).prop_map(|fields| fields
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

#[test]
fn no_message_crashes_the_server() {
    let ground = Ground::new(RULES);
    let open = |_: &ProjectChoice| Ok(ground.session.clone());
    let message = (prop::sample::select(COMMANDS.to_vec()), any_json(), any::<bool>());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    let tested = runner.run(&prop::collection::vec((message, any_json()), 1..30), |messages| {
        let mut client = Client::new(&open);
        client.begin(json!({}), &[], json!([]));
        for ((command, arguments, is_request), other) in messages {
            if is_request {
                client.send(command, arguments);
            } else {
                client.server.handle(&other);
            }
        }
        Ok(())
    });
    tested.unwrap();
}
