//! `asterisk doc`.

use super::{FormatArg, Global, ProjectArgs};
use crate::diag::{Diagnostic, did_you_mean};
use crate::exit::Exit;
use crate::project::Answers;
use crate::script::api::{HostFn, registry, test_registry};
use crate::session::SessionError;
use crate::ui::{Format, Ui};
use clap::Args;
use serde_json::{Value, json};

/// Print what scripts may call: the host functions, and the functions of the scripts themselves.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk doc\n  asterisk doc fingerprint\n  asterisk doc rules/rca.rhai")]
pub(super) struct DocArgs {
    /// Only this function, group, or script file.
    name: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

/// A function of a script.
struct ScriptFn {
    file: String,
    name: String,
    signature: String,
    doc: String,
}

pub(super) fn doc(global: &Global, args: &DocArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let project = session.project(None, Answers::Others)?;
    let wanted = |names: &[&str]| args.name.as_deref().is_none_or(|name| names.contains(&name));
    let host: Vec<&HostFn> =
        registry().iter().chain(test_registry()).filter(|function| wanted(&[function.name, function.group])).collect();
    let mut scripts: Vec<ScriptFn> = Vec::new();
    for file in project.library.files() {
        for function in file.functions() {
            if wanted(&[file.path(), &function.name]) {
                scripts.push(ScriptFn {
                    file: file.path().to_owned(),
                    name: function.name.clone(),
                    signature: format!("{}({})", function.name, function.params.join(", ")),
                    doc: function.doc.clone(),
                });
            }
        }
    }
    if host.is_empty() && scripts.is_empty() {
        let name = args.name.as_deref().unwrap_or_default();
        let diagnostic = Diagnostic::error("input/no-function", format!("there is no function, group or script `{name}`"));
        let hint = did_you_mean(name, registry().iter().chain(test_registry()).map(|function| function.name));
        return Err(SessionError::Asked(Box::new(diagnostic.maybe_help(hint))));
    }
    match ui.format() {
        Format::Json => ui.json(&json!({
            "schema_version": 1,
            "host": host.iter().map(|f| json!({
                "name": f.name, "signature": f.signature, "group": f.group, "doc": f.doc, "example": f.example, "result": f.result,
            })).collect::<Vec<Value>>(),
            "scripts": scripts.iter().map(|f| json!({
                "file": f.file, "name": f.name, "signature": f.signature, "doc": f.doc,
            })).collect::<Vec<Value>>(),
        })),
        Format::Pretty => print(ui, &host, &scripts),
    }
    Ok(Exit::Ok)
}

fn print(ui: Ui, host: &[&HostFn], scripts: &[ScriptFn]) {
    let mut group = "";
    for function in host {
        if function.group != group {
            group = function.group;
            let tests = test_registry().iter().any(|other| other.group == group);
            ui.out(&format!("# {group}{}", if tests { " (in *_test.rhai files only)" } else { "" }));
        }
        ui.out(&format!("\n{}\n    {}\n    {} == {}", function.signature, function.doc, function.example, function.result));
    }
    let mut file = "";
    for function in scripts {
        if function.file != file {
            file = &function.file;
            ui.out(&format!("\n# {file}"));
        }
        ui.out(&format!("\n{}", function.signature));
        function.doc.lines().for_each(|line| ui.out(&format!("    {line}")));
    }
}
