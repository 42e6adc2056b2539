//! The tools: what they are called, what they take, and who does it.

use super::args::read;
use super::desk::Desk;
use super::fault::Fault;
use super::{reading, start, steps};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A tool.
struct Spec {
    name: &'static str,
    told: &'static str,
    /// Whether it changes nothing.
    reads: bool,
    properties: fn() -> Value,
    required: &'static [&'static str],
}

const SESSION: &str = "the session; the one that is there, if it is not named";

fn text(told: &str) -> Value {
    json!({ "type": "string", "description": told })
}

fn number(told: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": told })
}

fn texts(told: &str) -> Value {
    json!({ "type": ["string", "array"], "items": { "type": "string" }, "description": told })
}

fn list(told: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": told })
}

fn map(told: &str) -> Value {
    json!({ "type": "object", "description": told })
}

const TOOLS: &[Spec] = &[
    Spec {
        name: "start_run",
        told: "Start a run whose steps workers pull, or go on with one. One session is there at a time.",
        reads: false,
        properties: || {
            json!({
                "pipeline": text("a path below the project, a file stem or a `pipeline:` name [default: rca]"),
                "input": texts("launches (ReportPortal JSON, JUnit XML) or directories below the project; `example`, or `none` for one empty case [default: example]"),
                "launch": text("a launch of ReportPortal by its number or uuid, instead of `input`; the server's settings say where it is asked for"),
                "cases": list("walk only these cases"),
                "via": texts("who answers, in the order to be tried [default: mcp, those who pull]"),
                "via_nodes": map("who answers single nodes: {NODE: NAME or [NAME, ...]}"),
                "set": map("vars of the pipeline, for this run"),
                "parallel": number("how many cases walk at once, and so how many steps wait at once [default: 8]"),
                "desired_capacity": number("how many workers are to be at work at once: no answer is taken before that has been seen [default: 0, no such wish]"),
                "budget": number("how many tokens may be spent"),
                "seed": number("seeds chance"),
                "resume": text("go on with this run; all but parallel, desired_capacity and budget is as it was"),
                "force": { "type": "boolean", "description": "end a session that is running" },
            })
        },
        required: &[],
    },
    Spec {
        name: "get_next_step",
        told: "Get the oldest step that waits, as soon as there is one. It is yours until its lease ends.",
        reads: false,
        properties: || {
            json!({
                "session_id": text(SESSION),
                "worker": text("your name, to be told from other workers"),
                "timeout_ms": number("how long to wait for one [default: 10000, at most 120000]"),
            })
        },
        required: &[],
    },
    Spec {
        name: "submit_artifact",
        told: "Answer a step. Returns once the answer is recorded; one that does not fit comes back with what is wrong.",
        reads: false,
        properties: || {
            json!({
                "session_id": text(SESSION),
                "dispatch_id": { "type": "integer", "description": "the step's id" },
                "ticket": text("the ticket that came with the step"),
                "artifact": { "type": ["object", "string"], "description": "the answer, as an object or as JSON text" },
                "tokens": { "type": "object", "description": "what it took, if you know", "properties": { "in": number("of the prompt"), "out": number("of the answer") } },
            })
        },
        required: &["dispatch_id", "ticket", "artifact"],
    },
    Spec {
        name: "get_report",
        told: "How a run stands and what came of it.",
        reads: true,
        properties: || {
            json!({
                "run": text("the run, or `latest` [default: that of the session, else the latest]"),
                "format": { "type": "string", "enum": ["markdown", "json", "summary"], "description": "[default: markdown]" },
            })
        },
        required: &[],
    },
    Spec {
        name: "emit_signal",
        told: "Tell everybody who looks on that something happened.",
        reads: false,
        properties: || {
            json!({
                "session_id": text(SESSION), "event": text("what happened"), "agent": text("who says so"),
                "case_id": text("the case it is about"), "step": text("the step it is about"), "meta": map("more: texts by name"),
            })
        },
        required: &["event", "agent"],
    },
    Spec {
        name: "get_signals",
        told: "What happened since an index: signals of workers and of the server.",
        reads: true,
        properties: || json!({ "session_id": text(SESSION), "since": { "type": "integer", "description": "from this index on [default: 0]" } }),
        required: &[],
    },
    Spec {
        name: "get_worker_health",
        told: "How the workers do: who waits, who works, what each answered, what was taken from it.",
        reads: true,
        properties: || json!({ "session_id": text(SESSION) }),
        required: &[],
    },
    Spec {
        name: "explain",
        told: "Why a case went the way it went: every edge of every step, what came of it, how near the others were.",
        reads: true,
        properties: || {
            json!({
                "run": text("[default: latest]"), "case": text("the case; without it, those there are"),
                "step": text("a step's path, or a node's name or code, with the values of all parts of its rules"),
            })
        },
        required: &[],
    },
    Spec {
        name: "route",
        told: "Make one routing decision: which edge leaves a node with this artifact in this state, and why.",
        reads: true,
        properties: || {
            json!({
                "pipeline": text("a file stem or a `pipeline:` name [default: rca]"), "node": text("the node, by name or code"),
                "artifact": { "description": "its artifact [default: null]" }, "state": map("the walk's state: {loops, context, history, ...}"),
                "vars": map("vars of the pipeline"),
            })
        },
        required: &["node"],
    },
    Spec {
        name: "lint_script",
        told: "Lint a script of the project, or this text in its place.",
        reads: true,
        properties: || json!({ "path": text("below the scripts, for example rules/mine.rhai"), "text": text("the text; nothing is written") }),
        required: &["path"],
    },
    Spec {
        name: "replay",
        told: "Decide past runs again by the texts of now, and tell what would go another way. Nobody is asked, nothing written.",
        reads: true,
        properties: || {
            json!({
                "runs": list("the runs, or `latest` [default: all]"), "pipeline": text("the pipeline to go by"),
                "set": map("vars to try"),
            })
        },
        required: &[],
    },
];

/// All of them.
pub(super) fn all() -> Vec<Tool> {
    let object = |value: Value| match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    let one = |spec: &Spec| {
        let schema = json!({
            "type": "object", "properties": (spec.properties)(), "required": spec.required, "additionalProperties": false,
        });
        let hints = ToolAnnotations::new().read_only(spec.reads).destructive(false).open_world(false);
        Tool::new(spec.name, spec.told, Arc::new(object(schema))).with_annotations(hints)
    };
    TOOLS.iter().map(one).collect()
}

/// Whether there is one of that name.
pub(super) fn is_known(name: &str) -> bool {
    TOOLS.iter().any(|spec| spec.name == name)
}

/// Does what a tool is asked.
pub(super) async fn call(desk: &Arc<Desk>, name: &str, args: Option<Map<String, Value>>) -> Result<Value, Fault> {
    if let Some(served) = desk.current() {
        served.touch();
    }
    match name {
        "get_next_step" => steps::next_step(desk, read(args)?).await,
        "submit_artifact" => steps::submit(desk, read(args)?).await,
        "emit_signal" => steps::emit(desk, read(args)?),
        "get_signals" => steps::signals(desk, &read(args)?),
        "get_worker_health" => steps::health(desk, &read(args)?),
        _ => {
            let (desk, name) = (Arc::clone(desk), name.to_owned());
            let work = move || blocking(&desk, &name, args);
            let done = tokio::task::spawn_blocking(work).await;
            done.unwrap_or_else(|error| Err(Fault::new("failed", error.to_string())))
        }
    }
}

/// What takes its time.
fn blocking(desk: &Arc<Desk>, name: &str, args: Option<Map<String, Value>>) -> Result<Value, Fault> {
    match name {
        "start_run" => start::start(desk, read(args)?),
        "get_report" => reading::report(desk, read(args)?),
        "explain" => reading::explain(&desk.session, read(args)?),
        "route" => reading::route(&desk.session, read(args)?),
        "lint_script" => reading::lint_script(desk, read(args)?),
        "replay" => reading::replay(&desk.session, read(args)?),
        other => Err(Fault::new("unknown_tool", format!("there is no tool `{other}`"))),
    }
}
