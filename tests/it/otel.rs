//! OpenTelemetry: the exported data of a run, and that an unreachable collector does not affect it.

use crate::harness::{PATIENCE, Project};
use crate::observe::{RUN, project};
use crate::server::{Server, says, says_json};
use crate::signals::{Agent, artifact, put, wrapped};
use crate::tools::interrupt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::process::Command;
use std::time::Instant;

fn collector() -> Server {
    Server::new(&[&says_json(&json!({}))])
}

/// A run that is exported to a collector as JSON, which the tests can read.
fn command(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.env("ASTERISK_CLOCK", "2026-02-14T21:21:09Z/10").env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    command
}

/// The spans that a collector was sent.
fn spans(server: &Server) -> Vec<Value> {
    let mut spans = Vec::new();
    for seen in server.seen() {
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/traces"));
        for resource in seen.body["resourceSpans"].as_array().unwrap() {
            assert_eq!(fields(&resource["resource"])["service.name"], "asterisk");
            for scope in resource["scopeSpans"].as_array().unwrap() {
                spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
            }
        }
    }
    spans
}

/// Attributes by name, as text.
fn fields(of: &Value) -> BTreeMap<String, String> {
    let one = |field: &Value| {
        let value = field["value"].as_object().unwrap().values().next().unwrap();
        (field["key"].as_str().unwrap().to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    of["attributes"].as_array().into_iter().flatten().map(one).collect()
}

/// The spans as a tree: those without a path first, in the order they began, then the steps.
fn tree(spans: &[Value]) -> String {
    let order = |span: &&Value| {
        let began = span["startTimeUnixNano"].as_str().unwrap().parse::<u64>().unwrap();
        std::cmp::Reverse((fields(span).remove("path").unwrap_or_default(), began))
    };
    let mut roots: Vec<&Value> =
        spans.iter().filter(|span| span["parentSpanId"].as_str().unwrap_or_default().is_empty()).collect();
    let mut text = String::new();
    roots.sort_by_key(order);
    let mut open: Vec<(usize, &Value)> = roots.into_iter().map(|root| (0, root)).collect();
    let mut shown = 0;
    while let Some((depth, span)) = open.pop() {
        shown += 1;
        let indent = "  ".repeat(depth);
        let name = span["name"].as_str().unwrap();
        write!(text, "{indent}{name}").unwrap();
        for (key, value) in fields(span).iter().filter(|(key, _)| *key != "run") {
            // The cost of a prompt changes with each word of its template.
            let measured = key.ends_with("_tokens") || key.ends_with("cost_usd");
            let value = if measured { "[MEASURED]" } else { value };
            write!(text, " {key}={value}").unwrap();
        }
        if span["status"]["code"].as_u64().unwrap_or(0) > 0 {
            write!(text, " FAILED: {}", span["status"]["message"].as_str().unwrap()).unwrap();
        }
        text.push('\n');
        for event in span["events"].as_array().into_iter().flatten() {
            writeln!(text, "{indent}  * {} {}", fields(event)["level"], event["name"].as_str().unwrap()).unwrap();
        }
        let mut below: Vec<&Value> = spans.iter().filter(|other| other["parentSpanId"] == span["spanId"]).collect();
        below.sort_by_key(order);
        open.extend(below.into_iter().map(|span| (depth + 1, span)));
    }
    assert_eq!(shown, spans.len(), "spans without a parent\n{text}");
    text
}

#[test]
fn a_run_is_a_trace_of_cases_and_steps() {
    let (project, server) = (project(), collector());
    let observe = format!("otlp={}", server.url);
    let args: Vec<&str> = RUN.iter().chain(&["--observe", &observe]).copied().collect();
    let ran = project.ran(&command(&project, &args).output().unwrap()).exits(4);
    assert!(!ran.stderr.contains("--observe"), "{}", ran.stderr);
    let spans = spans(&server);
    assert!(spans.iter().all(|span| span["traceId"] == spans[0]["traceId"]));
    insta::assert_snapshot!("trace", tree(&spans));
}

/// Walkers, masks and branches.
#[test]
fn spans_name_the_walker_and_the_masks() {
    let (project, server) = (Project::new(), collector());
    project.file("asterisk.yaml", "pipelines: pipelines\nscripts: scripts\nobservers: [otlp]\n");
    project.file(
        "scripts/masks/dark.rhai",
        "const NODES = [\"a\"];\nfn post(ctx, artifact) { let n = artifact.to_map(); n.n = 2; n }\n",
    );
    let pipeline = "pipeline: fan\nnodes:\n  - { name: a, schema: { n: int }, masks: [masks/dark.rhai] }\n  - { name: b }\n  - { name: c }\n  - { name: d, foreach: '[1, 2]' }\n  - { name: e }\nedges:\n  - { id: AB, from: a, to: b, parallel: true }\n  - { id: AC, from: a, to: c, parallel: true, condition: 'n == 2' }\n  - { id: BD, from: b, to: d }\n  - { id: CD, from: c, to: d }\n  - { id: DE, from: d, to: e }\n  - { id: E, from: e, to: _done }\nteam: { walkers: [Herald, Weaver], scheduler: schedulers/affinity.rhai }\nstart: a\ndone: _done\n";
    project.file("pipelines/fan.yaml", pipeline);
    project.file("stub.json", json!({ "*": { "a": [{ "n": 1 }], "b": [{}], "c": [{}], "d": [{}, {}], "e": [{}] } }).to_string());
    let mut command = command(&project, &["run", "fan", "--input", "none", "--stub", "stub.json"]);
    project.ran(&command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &server.url).output().unwrap()).exits(0);
    insta::assert_snapshot!("branches", tree(&spans(&server)));
}

/// Spans in a subpipeline have their parent, even if that began in another process.
#[test]
fn a_resumed_run_continues_its_trace() {
    let (project, server) = (project(), collector());
    project.file("asterisk.yaml", "pipelines: pipelines\nagents: { file: { poll: 40ms, timeout: 60s } }\n");
    let observe = format!("otlp={}", server.url);
    let start = |clock: &str, args: &[&str]| {
        let mut command = command(&project, args);
        command.args(["--observe", &observe]).env("ASTERISK_CLOCK", clock).spawn().unwrap()
    };
    let answer = |signal: &Value| {
        let data = json!({ "n": if signal["step"] == "verdict" { 1 } else { 3 } });
        put(&artifact(signal), wrapped(signal, &data));
    };
    let child = start("2026-02-14T21:21:09Z", &["run", "ride", "--input", "launch.json", "--case", "doubtful", "--via", "file"]);
    let pid = child.id();
    let agent = Agent::of(project.root(), move |_, signal, seen| {
        if seen == 0 {
            answer(signal);
        } else {
            interrupt(pid);
        }
    });
    project.ran(&child.wait_with_output().unwrap()).exits(130);
    drop(agent);
    let agent = Agent::of(project.root(), move |_, signal, _| answer(signal));
    let child = start("2026-02-14T22:21:09Z", &["run", "--resume", "latest"]);
    project.ran(&child.wait_with_output().unwrap()).exits(0);
    drop(agent);
    let spans = spans(&server);
    assert!(spans.iter().all(|span| span["traceId"] == spans[0]["traceId"]));
    insta::assert_snapshot!("resumed", tree(&spans));
}

#[test]
fn a_collector_gets_standard_otlp() {
    let (project, server) = (project(), collector());
    let observe = format!("otlp={}/v1/traces", server.url);
    let args: Vec<&str> = RUN.iter().chain(&["--observe", &observe]).copied().collect();
    let mut command = project.command(&args);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20of-mine");
    project.ran(&command.output().unwrap()).exits(4);
    let seen = server.seen();
    let headers = |name: &str| seen.iter().map(|seen| seen.header(name).unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(headers("content-type"), ["application/x-protobuf"]);
    assert_eq!(headers("authorization"), ["Bearer of-mine"]);
}

#[test]
fn an_unreachable_collector_does_not_affect_a_run() {
    let project = project();
    // Nothing listens, nothing answers, or the answer is an error.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let refuses = Server::new(&[&says("403 Forbidden", "", "not you")]);
    let (silent, closed) = (format!("http://{}", silent.local_addr().unwrap()), format!("http://{closed}"));
    let mut reported = String::new();
    for (name, url) in [("nobody", &closed), ("silent", &silent), ("refuses", &refuses.url)] {
        let began = Instant::now();
        let observe = format!("otlp={url}");
        let args: Vec<&str> = RUN.iter().chain(&["--case", "plain", "--observe", &observe]).copied().collect();
        let ran = project.ran(&project.command(&args).output().unwrap()).exits(0);
        assert!(began.elapsed() < PATIENCE, "{name} {:?}", began.elapsed());
        let warning = ran.stderr.lines().find(|line| line.contains("warning")).unwrap_or_else(|| panic!("{}", ran.stderr));
        writeln!(reported, "{name}: {}", warning.replace(url, "[URL]")).unwrap();
    }
    for observe in ["otlp=somewhere", "otlp="] {
        let args: Vec<&str> = RUN.iter().chain(&["--observe", observe]).copied().collect();
        writeln!(reported, "{}", project.asterisk(&args).exits(2).stderr).unwrap();
    }
    insta::assert_snapshot!("absent", reported);
}
