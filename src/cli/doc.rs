//! `asterisk doc`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::config::SchemaKind;
use crate::exit::Exit;
use crate::ui::{Fields, FunctionDocs, OutputFormat, plain};
use asterisk_pipeline::{self as pipeline, Pipeline};
use asterisk_project::AnswererNames;
use asterisk_session::SessionError;
use clap::Args;
use serde_json::{Value, json};

/// Print the functions that scripts can call, both built-in and defined in scripts, and the data passed to them, or the JSON
/// Schema of a kind of file.
#[derive(Debug, Args)]
#[command(after_help = "Editors use the schema that a comment names; `asterisk init --only schemas` writes all of them:\n  \
                        # yaml-language-server: $schema=pipeline.schema.json\n\nExamples:\n  asterisk doc\n  asterisk doc fingerprint\n  asterisk doc rules/rca.rhai\n  \
                        asterisk doc state\n  asterisk doc params.failure\n  asterisk doc evidence\n  asterisk doc vars\n  \
                        asterisk doc --schema pipeline > pipeline.schema.json")]
pub(super) struct DocArgs {
    /// Only this function, group or script file; or the fields of: state, params, vars, evidence, verdict, `params.GROUP`.
    name: Option<String>,
    /// Print the JSON Schema of this kind of file instead.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "name")]
    schema: Option<SchemaKind>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn doc(global: &GlobalArgs, args: &DocArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    if let Some(kind) = args.schema {
        ui.json(&kind.schema());
        return Ok(Exit::Ok);
    }
    let session = global.session(&args.project, None)?;
    let pipelines = || -> Vec<Pipeline> {
        let listed = session.pipelines().unwrap_or_default();
        // Errors of a pipeline are reported where it is used.
        listed.iter().filter_map(|listed| pipeline::parse(&listed.source).ok()).collect()
    };
    if let Some(given) = args.name.as_deref().and_then(|name| Fields::named(name, pipelines)) {
        match ui.format() {
            OutputFormat::Json => {
                let given: Vec<Value> = given.iter().map(Fields::json).collect();
                ui.json(&json!({ "schema_version": 1, "fields": given }));
            }
            OutputFormat::Pretty => ui.out(&plain(&Fields::text(&given))),
        }
        return Ok(Exit::Ok);
    }
    let project = session.whole_project(None, AnswererNames::Others)?;
    let functions = FunctionDocs::named(&project.library, args.name.as_deref())
        .map_err(|unknown| SessionError::BadRequest(Box::new(unknown)))?;
    let FunctionDocs { host, scripts } = &functions;
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({
            "schema_version": 1,
            "host": host.iter().map(|f| json!({
                "name": f.name, "signature": f.signature, "group": f.group, "doc": f.doc, "example": f.example, "result": f.result,
            })).collect::<Vec<Value>>(),
            "scripts": scripts.iter().map(|f| json!({
                "file": f.file, "name": f.name, "signature": f.signature, "doc": f.doc,
            })).collect::<Vec<Value>>(),
        })),
        OutputFormat::Pretty => ui.out(&functions.text()),
    }
    Ok(Exit::Ok)
}
