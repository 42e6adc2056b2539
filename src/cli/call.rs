//! `asterisk call`.

use super::route::json_file;
use super::{GlobalArgs, ProjectArgs};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::files::read_input;
use crate::project::AnswererNames;
use crate::session::SessionError;
use crate::ui::OutputFormat;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Call one script function with JSON arguments.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  asterisk call lib/text.rhai#one_line --args '[\"a long text\", 6]'")]
pub(super) struct CallArgs {
    /// The function: path/in/scripts.rhai#name.
    reference: String,
    /// Its arguments: a JSON list.
    #[arg(long, value_name = "JSON", default_value = "[]")]
    args: String,
    /// Many calls, one line of JSON each: a list of arguments or {id, args}.
    #[arg(long, value_name = "FILE", conflicts_with = "args")]
    batch: Option<PathBuf>,
    /// The pipeline whose project to link [default: rca].
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: super::FormatArg,
}

pub(super) fn call(global: &GlobalArgs, args: &CallArgs) -> Result<Exit, SessionError> {
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
