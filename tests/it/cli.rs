//! The output of each command, as text and JSON, and its errors.
//!
//! Snapshots use a small separate pipeline, so that they do not depend on the content of this repository.

use crate::calibrate::SCENARIO;
use crate::docs::shell;
use crate::harness::{Project, Ran, fixture, full_size, repository};
use crate::kill::{halted, kill, small};
use crate::server::{Server, says_json};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const DOOR: &str = r#"pipeline: door
description: whether to open
vars: { sure: 0.8 }
zones:
  outside: { nodes: [look], element: air }
nodes:
  - name: look
    code: D0
    schema: { confidence: { type: number, min: 0, max: 1 }, label?: string }
  - { name: open, element: fire }
  - name: ask
edges:
  - { id: seen, from: look, advisory: true, condition: 'label != ""' }
  - { id: D1, from: look, to: open, shortcut: true, condition: "confidence >= vars.sure" }
  - { id: D2, from: look, to: ask, rule: "rules/door.rhai#unsure" }
  - { id: D3, from: open, to: _done }
  - { id: D4, from: ask, to: look, loop: true, counter: asked, condition: "state.loops.asked < 2" }
  - { id: D5, from: ask, to: _done }
start: look
done: _done
"#;

const RULE: &str = "\
/// Too unsure to open: ask.
fn unsure(artifact, state, vars) {
    if artifact.confidence >= vars.sure { return false; }
    #{ because: `not sure: ${artifact.confidence}`, context: #{ asked_at: artifact.confidence } }
}
";

/// A project with the pipeline `door.yaml`, its rule, and answers for it.
fn door() -> Project {
    let project = Project::new();
    project.file("asterisk.yaml", "pipelines: pipelines\nscripts: heuristics\n");
    project.file("pipelines/door.yaml", DOOR);
    project.file("heuristics/rules/door.rhai", RULE);
    let look = json!([{ "confidence": 0.5, "label": "a cat" }, { "confidence": 0.9 }]);
    project.file("answers.json", json!({ "*": { "look": look, "ask": [{}], "open": [{}] } }).to_string());
    project.file("look.json", r#"{ "confidence": 0.7, "label": "a dog" }"#);
    project.file(
        "launch.json",
        r#"{ "run_id": "9", "name": "l", "failure_list": [{ "id": "a", "name": "t", "status": "FAILED" }] }"#,
    );
    project
}

/// Compares with the snapshot of that name; `ARGS` is split at spaces.
#[track_caller]
fn shows(project: &Project, name: &str, args: &str) -> Ran {
    let ran = project.asterisk(&args.split(' ').collect::<Vec<_>>());
    // What a content address is of may change its form.
    let text = regex::Regex::new("[0-9a-f]{64}").unwrap().replace_all(&ran.text(), "[HASH]").into_owned();
    insta::assert_snapshot!(name, format!("$ asterisk {args}\n{text}"));
    ran
}

#[test]
fn commands_print_text_and_json() {
    let project = door();
    shows(&project, "version", "--version").ok();
    shows(&project, "runs-none", "status");
    shows(&project, "runs-none-json", "status --format json").ok();
    shows(&project, "route", "eval route door --node look --artifact look.json").ok();
    shows(&project, "route-json", "eval route door --node D0 --artifact look.json --format json").ok();
    shows(&project, "route-loop-json", "eval route door --node ask --format json").ok();
    project.file("batch.jsonl", "{\"id\": \"x\", \"node\": \"look\", \"artifact\": {\"confidence\": 1}}\n\n{\"node\": \"ask\", \"state\": {\"loops\": {\"asked\": 2}}}\n");
    shows(&project, "route-batch", "eval route door --batch batch.jsonl").ok();
    shows(&project, "call", "eval call rules/door.rhai#unsure --args [{\"confidence\":0.5},{},{\"sure\":0.8}] --pipeline door")
        .ok();
    project.file(
        "calls.jsonl",
        "[{\"confidence\": 0.9}, {}, {\"sure\": 0.8}]\n{\"id\": \"b\", \"args\": [{\"confidence\": 0.1}, {}, {\"sure\": 0.8}]}\n",
    );
    shows(&project, "call-batch", "eval call rules/door.rhai#unsure --batch calls.jsonl --pipeline door").ok();
    shows(&project, "graph", "graph door").ok();
    shows(&project, "run", "run door --input launch.json --stub answers.json --parallel 1").ok();
    shows(&project, "run-json", "run door --input launch.json --stub answers.json --format json").ok();
    shows(&project, "run-none-verbose", "run door --input none --stub answers.json -v").exits(0);
    let runs = shows(&project, "runs-json", "status --format json").ok().json();
    shows(&project, "runs", "status").ok();
    let run = runs["runs"][2]["run"].as_str().unwrap();
    shows(&project, "status", &format!("status {run}")).ok();
    shows(&project, "status-json", &format!("status {run} --format json")).ok();
    shows(&project, "show-elements", "show elements").ok();
    shows(&project, "show-pipelines", "show pipelines --format json").ok();
    shows(&project, "doc-host", "doc fingerprint").ok();
    shows(&project, "doc-script", "doc rules/door.rhai").ok();
    shows(&project, "doc-script-json", "doc rules/door.rhai --format json").ok();
}

#[test]
fn bundled_data_is_shown() {
    let project = Project::new();
    let data = project.asterisk(&["show", "data", "--format", "json"]).ok().json();
    let names: BTreeSet<&str> = data["data"].as_object().unwrap().keys().map(String::as_str).collect();
    assert!(names.is_superset(&["elements", "domain"].into()), "{names:?}");
    let table = project.asterisk(&["show", "data"]).ok().stdout;
    for name in names {
        assert!(table.contains(&format!("asterisk show data {name}")));
        project.asterisk(&["show", "data", name]).ok();
        assert_eq!(project.asterisk(&["show", "data", name, "--format", "json"]).ok().json()["schema_version"], 1);
    }
    let elements = project.asterisk(&["show", "elements", "--format", "json"]).ok().json();
    assert_eq!(elements["elements"]["fire"]["max_loops"], 0);
    shows(&project, "graph-rca", "graph rca").ok();
}

/// The names of the commands that a help lists.
fn listed(help: &str) -> Vec<&str> {
    // The rest of a long summary is indented further.
    let names = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).collect()
}

/// The names of all commands, as the help lists them; each is followed by its subcommands, such as `goal memory`.
pub(crate) fn commands(project: &Project) -> Vec<String> {
    fn add(project: &Project, name: &str, found: &mut Vec<String>) {
        let args: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let help = project.asterisk(&args).ok().stdout;
        found.push(name.to_owned());
        let below = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
        for sub in listed(below).into_iter().filter(|sub| *sub != "help") {
            add(project, &format!("{name} {sub}"), found);
        }
    }
    let help = project.asterisk(&["--help"]).ok().stdout;
    let mut found = Vec::new();
    for name in listed(help.split("Options:\n").next().unwrap()) {
        add(project, name, &mut found);
    }
    found
}

#[test]
fn help_is_of_a_task_or_of_a_command() {
    let project = Project::new();
    shows(&project, "help-task", "help maintain").exits(0);
    for words in ["run", "goal", "serve", "goal memory", "calibrate truth list"] {
        let args: Vec<&str> = ["help"].into_iter().chain(words.split(' ')).chain(["--help"]).collect();
        let help = project.asterisk(&args[..args.len() - 1]).exits(0);
        assert_eq!(help, project.asterisk(&args[1..]).exits(0), "{words}");
    }
    assert_eq!(project.asterisk(&["help"]).exits(0), project.asterisk(&["--help"]).exits(0));
    assert!(project.asterisk(&["help", "rum"]).exits(2).stderr.contains("'run'"));
}

/// The examples of the helps are commands that work.
#[test]
fn every_example_in_a_help_works() {
    let project = Project::new();
    let copy = |from: &str, to: &str| project.file(to, std::fs::read(repository().join(from)).unwrap());
    copy("examples/launches/checkout-nightly.json", "launch.json");
    copy("examples/launches/pytest.xml", "junit.xml");
    copy("examples/launches/nextest.xml", "reports/nextest.xml");
    project.file("scripts/lib/mine.rhai", "//! Mine.\n\n/// One.\nfn one() { 1 }\n");
    // A ReportPortal that has the launch of the example, without any failures.
    let launch: serde_json::Value = serde_json::from_str(&project.read("launch.json")).unwrap();
    let server = Server::answering(move |seen| {
        says_json(&if seen.path.contains("/launch/") {
            json!({ "id": 33195, "name": launch["name"] })
        } else {
            json!({ "content": [], "page": { "number": 1, "size": 200, "totalElements": 0, "totalPages": 0 } })
        })
    });
    let agents = "agents: { claude: { kind: exec, command: [\"false\"], retry: { attempts: 1 } } }\n";
    project.file("asterisk.yaml", format!("{agents}reportportal: {{ url: '{}', project: shop }}\n", server.url));
    project.file("decisions.jsonl", "{\"node\": \"recall\", \"artifact\": null}\n");
    let run = project.asterisk(&["run", "--format", "json"]).ok().json()["run"].as_str().unwrap().to_owned();
    let failure = "failure: { name: t1, error_message: 'connect ECONNREFUSED 10.0.0.5:5432' }";
    project.file("labelled.yaml", format!("cases:\n  - {{ id: pytest, defect: en001, {failure} }}\n"));
    project.file("labels.json", r#"[{ "id": "junit", "label": "pb001" }]"#);
    copy("examples/launches/pytest.xml", "launches/junit.xml");
    let scenario = SCENARIO.replace("name: small", "name: scenario");
    project.file("scenario.yaml", &scenario);
    let source = asterisk_diag::Source::new("scenario.yaml", scenario.as_str());
    project.file("scenario.json", asterisk_form::yaml::parse(&source).unwrap().to_json().to_string());
    project.file("heuristics/lib/mine.rhai", project.read("scripts/lib/mine.rhai"));
    project.file("recall-result.json", "{\"match\": false, \"confidence\": 0.1}");
    let begun = |more: &[&str], code: i32| {
        let more = more.join(" ");
        let ran = shell(&project, &format!("asterisk run --case 880501 --format json {more}")).exits(code);
        ran.json()["run"].as_str().unwrap().to_owned()
    };
    let rcas = project.asterisk(&["rca", "list", "--format", "json"]).ok().json();
    // The cause of the case that the examples name, and another one.
    let (its, others): (Vec<&Value>, Vec<&Value>) =
        rcas["rcas"].as_array().unwrap().iter().partition(|rca| rca["component"] == "pricing");
    let [rca, other] = [&its, &others].map(|rcas| rcas[0]["id"].to_string());
    let mut tried = 0;
    // Goals use a separate project: the rest is about the latest run of a launch.
    let goals = Project::new();
    goals.file("launch.json", project.read("launch.json"));
    for file in ["asterisk.yaml", "scripts/lib/mine.rhai"] {
        goals.file(file, project.read(file));
    }
    for command in commands(&project) {
        let project = if command.starts_with("goal") { &goals } else { &project };
        let help = crate::docs::help(&command);
        // Most subcommands are in the examples of the command above them.
        let Some(examples) = help.split("\nExample").nth(1) else { continue };
        for line in examples.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()) {
            // Runs to continue are waiting; runs to review are finished.
            let run = match command.as_str() {
                "cursor" | "save" => begun(&["--via", "manual"], 5),
                "review" => begun(&[], 0),
                "push" => {
                    let run = begun(&[], 0);
                    shell(project, "asterisk review 880501 approve").exits(0);
                    run
                }
                _ => run.clone(),
            };
            // A server on the network runs until it is stopped.
            let line = if line.contains("--mcp http") { format!("{line} --help") } else { line.to_owned() };
            // `.ci/run` does all of them; another example has one function.
            if line.ends_with(" --mutate") && !full_size() {
                continue;
            }
            let line = line.replace("20260214-212109-ab12cd", &run).replace("4711", &rca).replace("4712", &other);
            let ran = shell(project, &line);
            // Of a scenario a metric may miss its bar.
            let scored = command.starts_with("calibrate") && ran.code == Some(1);
            assert!(ran.code == Some(0) || scored, "{line}\n{}", ran.text());
            tried += 1;
        }
    }
    assert!(tried >= 14, "{tried}");
}

#[test]
fn senseless_arguments_are_usage_errors() {
    let project = door();
    for (name, args) in [
        ("usage-flag", "run --inputt x"),
        ("usage-command", "rum"),
        ("usage-no-node", "eval route door"),
        ("usage-conflict", "eval route door --node look --batch x"),
        ("usage-pipeline", "run dor"),
        ("usage-node", "eval route door --node lok"),
        ("usage-case", "run door --input launch.json --stub answers.json --case b"),
        ("usage-run", "run --resume nothing"),
        ("usage-status", "status nothing"),
        ("usage-set", "run --set recall_hit"),
        ("usage-data", "show data taxonmy"),
        ("usage-doc", "doc fingerprnt"),
        ("usage-stub", "run --via stub"),
        ("usage-args", "eval call rules/door.rhai#unsure --args {}"),
        ("usage-parallel", "run --parallel 0"),
        ("usage-no-input", "run --input absent.json"),
        ("usage-no-scripts", "run --scripts absent"),
        ("usage-no-pipeline-file", "run pipelines/absent.yaml"),
        ("usage-var", "run door --input none --stub answers.json --set shure=0.9"),
        ("usage-var-value", "run --input none --set recall_hit=1.5"),
        ("usage-var-word", "run --input none --set govern=element"),
    ] {
        let ran = shows(&project, name, args).exits(2);
        assert_eq!(ran.stdout, "", "{args}");
    }
    assert!(!project.root().join(".asterisk/investigations").exists());
    project.file("pipelines/deep/door.yaml", DOOR);
    shows(&project, "usage-ambiguous", "graph door").exits(2);
}

#[test]
fn compile_errors_are_shown_with_their_location() {
    let project = door();
    let wrong = |path: &str, text: &str, name: &str, args: &str| {
        let before = project.read(path);
        assert!(project.root().join(path).exists());
        project.file(path, text);
        let ran = shows(&project, name, args).exits(3);
        assert_eq!(ran.stdout, "", "{args}");
        project.file(path, before);
    };
    let run = "run door --input launch.json --stub answers.json";
    wrong("heuristics/rules/door.rhai", &RULE.replace("artifact.confidence >=", "artifact.confidense >="), "error-field", run);
    wrong("heuristics/rules/door.rhai", &RULE.replace("return false; }", "return false;"), "error-syntax", run);
    wrong("heuristics/rules/door.rhai", &RULE.replace("fn unsure", "fn unsurely"), "error-function", run);
    wrong("pipelines/door.yaml", &project.read("pipelines/door.yaml").replace("sure: 0.8", "sure: [0.8"), "error-yaml", run);
    wrong(
        "pipelines/door.yaml",
        &project.read("pipelines/door.yaml").replace("to: _done }", "too: _done, to: opn }"),
        "error-keys",
        "graph door",
    );
    wrong("launch.json", "{ \"run_id\": \"9\", \"name\": \"l\", \"failure_list\": [{ \"id\": \"a\", ", "error-truncated", run);
    wrong("launch.json", "{ \"run_id\": \"9\" }", "error-launch", run);
    wrong("answers.json", "{ \"*\": [] }", "error-stub", run);
    wrong("asterisk.yaml", "scriptz: heuristics\n", "error-settings", "status");
    for (name, args) in [
        ("error-no-responder", "run door --input none"),
        ("error-call", "eval call rules/door.rhai#unshure --pipeline door"),
        ("error-reference", "eval call rules/door.rhai --pipeline door"),
    ] {
        shows(&project, name, args).exits(3);
    }
    assert!(!project.root().join(".asterisk/investigations").exists(), "nothing was run");
}

#[test]
fn failed_cases_are_shown_with_the_others() {
    let project = door();
    project.file("answers.json", r#"{ "*": { "look": [{ "confidence": 0.5 }], "ask": [{}] } }"#);
    shows(&project, "failed-stub", "run door --input none --stub answers.json").exits(4);
    shows(&project, "failed-stub-json", "run door --input none --stub answers.json --format json").exits(4);
    project.file(
        "pipelines/shut.yaml",
        DOOR.replace("pipeline: door", "pipeline: shut").replace("  - { id: D5, from: ask, to: _done }\n", ""),
    );
    project.file("state.json", r#"{ "loops": { "asked": 2 } }"#);
    shows(&project, "failed-route", "eval route shut --node ask --state state.json").exits(4);
    shows(&project, "failed-route-json", "eval route shut --node ask --state state.json --format json").exits(4);
}

#[test]
fn inputs_have_several_sources() {
    let project = door();
    let args = ["run", "door", "--stub", "answers.json", "--format", "json"];
    let cases =
        |ran: Ran| ran.ok().json()["cases"].as_array().unwrap().iter().map(|case| case["case"].clone()).collect::<Vec<Value>>();
    let launch = project.read("launch.json");
    let piped = project.asterisk_reading(&[&args[..], &["--input", "-"]].concat(), &launch);
    assert_eq!(cases(piped), ["a"]);
    assert_eq!(cases(project.asterisk(&[&args[..], &["--input", "none"]].concat())), ["case-1"]);
    project.file("more.json", launch.replace("\"a\"", "\"b\""));
    let several = [&args[..], &["--input", "launch.json", "--input", "more.json"]].concat();
    assert_eq!(cases(project.asterisk(&several)), ["a", "b"]);
    assert_eq!(cases(project.asterisk(&[&several[..], &["--case", "b"]].concat())), ["b"]);
    // A launch without failures is not an error.
    project.file("empty.json", r#"{ "run_id": "9", "name": "green", "failure_list": [] }"#);
    let empty = project.asterisk(&[&args[..], &["--input", "empty.json"]].concat()).exits(0);
    assert_eq!(empty.stderr, "no failures in this launch: nothing to analyse\n");
    let empty = empty.json();
    assert_eq!((&empty["status"], &empty["cases"]), (&json!("done"), &json!([])));
    let report = project.asterisk(&["run", "--input", "empty.json"]).exits(0);
    assert!(report.stdout.contains("0 cases"), "{}", report.text());
    // From below the project, and elsewhere by flags.
    let junit = fixture("launches/surefire.xml");
    project.file("below/keep", "");
    let call = project.call(&["run", "--input", junit.to_str().unwrap(), "--out", "../elsewhere", "--format", "json"]);
    let ran = call.within("below").ran().ok();
    assert!(project.root().join("elsewhere").is_dir());
    assert!(ran.json()["report"].as_str().unwrap().contains("elsewhere"), "{}", ran.text());
    assert!(project.root().join(".asterisk/asterisk.db").is_file(), "the store is the project's");
}

/// A stopped run shows how to resume.
#[test]
fn a_stopped_run_shows_how_to_resume() {
    let project = Project::new();
    small(&project);
    let child = halted(&project, &["run", "--input", "launch.json", "--stub", "stub.json", "--parallel", "1"], 7).unwrap();
    kill(child);
    let runs = project.asterisk(&["status", "--format", "json"]).ok().json();
    let run = runs["runs"][0]["run"].as_str().unwrap();
    let status = shows(&project, "status-stopped", &format!("status {run}")).exits(0);
    assert!(status.stderr.contains(&format!("asterisk run --resume {run}")));
}
