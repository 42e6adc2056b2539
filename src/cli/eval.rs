//! `asterisk eval`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_base::environment::InputStream;
use asterisk_diag::{Code, Diagnostic, Source, Span};
use asterisk_files::read_input;
use asterisk_project::AnswererNames;
use asterisk_session::{RouteState, Routed, SessionError};
use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Evaluate one routing decision or one script function, without a run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        echo '{\"match\": true, \"confidence\": 0.9}' | asterisk eval route rca --node recall --artifact -\n  \
                        asterisk eval call lib/text.rhai#one_line --args '[\"a long text\", 6]'")]
pub(super) struct EvalArgs {
    #[command(subcommand)]
    what: EvalCommand,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    Route(RouteArgs),
    Call(CallArgs),
}

/// Make one routing decision: which edge leaves a node, and why.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  echo '{\"match\": true, \"confidence\": 0.9}' | asterisk eval route rca --node recall --artifact -\n  \
                        asterisk eval route rca --batch decisions.jsonl --format json"
)]
struct RouteArgs {
    /// The pipeline: a path, a file stem, or a `pipeline:` name.
    pipeline: String,
    /// The node whose edges to evaluate, by name or code.
    #[arg(long, value_name = "NODE", required_unless_present = "batch")]
    node: Option<String>,
    /// The node's artifact as JSON [default: null].
    #[arg(long, value_name = "FILE")]
    artifact: Option<PathBuf>,
    /// The walk's state as JSON: {loops, context, history, ...} [default: empty].
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// A batch of decisions, one line of JSON each: {id, node, artifact, state, vars}.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["node", "artifact", "state"])]
    batch: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

/// Call a script function with JSON arguments.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  asterisk eval call lib/text.rhai#one_line --args '[\"a long text\", 6]'")]
struct CallArgs {
    /// The function: path/in/scripts.rhai#name.
    reference: String,
    /// Its arguments: a JSON list.
    #[arg(long, value_name = "JSON", default_value = "[]")]
    args: String,
    /// A batch of calls, one line of JSON each: a list of arguments or {id, args}.
    #[arg(long, value_name = "FILE", conflicts_with = "args")]
    batch: Option<PathBuf>,
    /// The pipeline whose project to link [default: rca].
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn eval(global: &GlobalArgs, args: &EvalArgs) -> Result<Exit, SessionError> {
    match &args.what {
        EvalCommand::Route(args) => route(global, args),
        EvalCommand::Call(args) => call(global, args),
    }
}

/// A decision with its schema version.
#[derive(Serialize)]
struct VersionedRoute<'a> {
    schema_version: u32,
    #[serde(flatten)]
    routed: &'a Routed,
}

/// One line of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine {
    #[serde(default)]
    id: Value,
    node: String,
    #[serde(default)]
    artifact: Value,
    #[serde(default)]
    state: Option<RouteState>,
    #[serde(default)]
    vars: Option<Map<String, Value>>,
}

fn route(global: &GlobalArgs, args: &RouteArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let project = session.project(Some(&args.pipeline), AnswererNames::Others)?;
    if let Some(path) = &args.batch {
        let source = read_input(path, global.environment.input())?;
        let mut lost = false;
        for (number, text) in source.text().lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line: BatchLine = parse_at(&source, text, "a line of a batch")?;
            let vars = line.vars.unwrap_or_default();
            let decided = session.route(&project, &line.node, &line.artifact, line.state.unwrap_or_default(), &vars);
            let mut out = match decided {
                Ok((routed, _)) => {
                    lost |= matches!(routed, Routed::Lost { .. });
                    json!(routed)
                }
                Err(SessionError::BadRequest(diagnostic)) if diagnostic.is(Code::InputNoNode) => {
                    lost = true;
                    json!({ "error": "node_not_found", "message": diagnostic.message })
                }
                Err(error) => return Err(error),
            };
            out["id"] = if line.id.is_null() { json!(number + 1) } else { line.id };
            ui.json_line(&out);
        }
        return Ok(if lost { Exit::Cases } else { Exit::Ok });
    }
    let artifact =
        args.artifact.as_deref().map_or(Ok(Value::Null), |path| json_file(path, global.environment.input(), "an artifact"))?;
    let state =
        args.state.as_deref().map_or(Ok(RouteState::default()), |path| json_file(path, global.environment.input(), "a state"))?;
    let node = args.node.as_deref().unwrap_or_default();
    let (routed, diagnostics) = session.route(&project, node, &artifact, state, &Map::new())?;
    match ui.format() {
        OutputFormat::Json => ui.json(&VersionedRoute { schema_version: 1, routed: &routed }),
        OutputFormat::Pretty => print_route(ui, node, &routed),
    }
    ui.diagnostics(&diagnostics);
    // Dropping a linked project is a good part of a cold start.
    global.environment.forget(project);
    Ok(if matches!(routed, Routed::Lost { .. }) { Exit::Cases } else { Exit::Ok })
}

fn print_route(ui: &Ui, node: &str, routed: &Routed) {
    let (considered, line) = match routed {
        Routed::Way { edge: Some(edge), to: Some(to), because, considered, .. } => {
            (considered, format!("{node} -> {to} by {edge}: {because}"))
        }
        Routed::Way { because, considered, .. } => (considered, format!("{node}: {because}")),
        Routed::Lost { error, considered, .. } => (considered, format!("{node}: {error}")),
    };
    ui.out(&plain(&line));
    for entry in considered {
        let outcome = json!(entry.outcome);
        let why = entry.because.as_deref().or(entry.error.as_deref()).unwrap_or("");
        let line = format!("  {:<12} {:<12} {why}", entry.edge, outcome.as_str().unwrap_or(""));
        ui.out(plain(&line).trim_end());
    }
}

/// Reads a JSON file, or standard input for `-`.
fn json_file<T: DeserializeOwned>(path: &Path, input: &InputStream, what: &str) -> Result<T, SessionError> {
    let source = read_input(path, input)?;
    parse_at(&source, source.text(), what)
}

/// Parses a part of a source; errors are labelled there.
fn parse_at<T: DeserializeOwned>(source: &Source, part: &str, what: &str) -> Result<T, SessionError> {
    serde_json::from_str(part).map_err(|error| {
        let base = part.as_ptr() as usize - source.text().as_ptr() as usize;
        let at = Source::new("", part).offset(error.line(), error.column());
        let at = base + at.min(part.len().saturating_sub(1));
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        let diagnostic = Diagnostic::error("input/json", format!("this is not {what}: {reason}"));
        SessionError::Texts(diagnostic.label(source, Span::new(at, at + 1), "here").into())
    })
}

fn call(global: &GlobalArgs, args: &CallArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let project = session.whole_project(args.pipeline.as_deref(), AnswererNames::Others)?;
    let Some(path) = &args.batch else {
        let list = arguments(&args.args)?;
        let result = session.call(&project, &args.reference, &list)?;
        match ui.format() {
            OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "result": result })),
            OutputFormat::Pretty => ui.json(&result),
        }
        return Ok(Exit::Ok);
    };
    if path.extension().is_some_and(|ending| ending == "json") {
        let calls: Vec<Vec<Value>> = json_file(path, global.environment.input(), "a list of argument lists")?;
        for list in calls {
            ui.json_line(&session.call(&project, &args.reference, &list)?);
        }
        return Ok(Exit::Ok);
    }
    let mut failed = false;
    for (number, line) in
        read_input(path, global.environment.input())?.text().lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
    {
        let mut value: Value = serde_json::from_str(line).unwrap_or_default();
        let id = value.get_mut("id").map_or(json!(number + 1), Value::take);
        let list = match value.get_mut("args").map(Value::take).unwrap_or(value) {
            Value::Array(list) => list,
            _ => arguments(line)?,
        };
        match session.call(&project, &args.reference, &list) {
            Ok(result) => ui.json_line(&json!({ "id": id, "result": result })),
            Err(SessionError::Texts(diagnostics)) => {
                failed = true;
                ui.json_line(&json!({ "id": id, "error": "rule_error", "message": diagnostics.to_string() }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(if failed { Exit::Cases } else { Exit::Ok })
}

fn arguments(text: &str) -> Result<Vec<Value>, SessionError> {
    serde_json::from_str(text).map_err(|error| {
        let message = format!("the arguments are not a JSON list: {error}");
        let diagnostic = Diagnostic::error("input/args", message).help("write for example --args '[{\"match\": true}, {}, {}]'");
        SessionError::BadRequest(Box::new(diagnostic))
    })
}
