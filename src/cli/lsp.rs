//! `asterisk lsp`.

use super::{GlobalArgs, ProjectArgs};
use crate::config::{CommandLine, SchemaKind, resolve};
use crate::exit::Exit;
use asterisk_base::environment::Variables;
use asterisk_files::UnsavedTexts;
use asterisk_language_server::{OpenedProject, ServerHost, serve_streams};
use asterisk_session::SessionError;
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Serve an editor over the Language Server Protocol on standard input and output.
///
/// An editor starts it. It covers scripts, pipelines, templates, data and tests: diagnostics, completion, hover, navigation, renaming,
/// formatting, and what the record says about each rule. `docs/editors.md` describes how to set up editors.
#[derive(Debug, Args)]
#[command(
    after_help = "The project is the one around the folder that the editor has open.\n\nExamples:\n  asterisk lsp\n  asterisk lsp --store rca.db"
)]
pub(super) struct LspArgs {
    /// The directory of scripts that overlays the bundled ones.
    #[arg(id = "ASTERISK_SCRIPTS", long = "scripts", value_name = "DIR")]
    scripts: Option<PathBuf>,
    /// Accepted for clients that name the transport; it is the only one.
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn lsp(global: &GlobalArgs, args: &LspArgs) -> Result<Exit, SessionError> {
    let host = Arc::new(EditorHost {
        global: global.clone(),
        project: ProjectArgs { scripts: args.scripts.clone(), ..ProjectArgs::default() },
    });
    let input = global.environment.input().clone();
    let output = global.environment.output().writer();
    serve_streams(move || std::io::BufReader::new(input), output, host)
        .map_err(|error| SessionError::bad_request("lsp/protocol", error.to_string(), None))?;
    Ok(Exit::Ok)
}

/// The settings and schemas of the program.
struct EditorHost {
    global: GlobalArgs,
    project: ProjectArgs,
}

impl ServerHost for EditorHost {
    fn open(&self, dir: &Path, unsaved: Arc<UnsavedTexts>) -> Result<OpenedProject, SessionError> {
        let given = CommandLine { unsaved, ..self.global.command_line(&self.project, None) };
        let resolved = resolve(given, dir, &self.global.environment)?;
        Ok(OpenedProject { session: asterisk_session::Session::new(resolved.setup), lint: resolved.lint, root: resolved.root })
    }

    fn schema(&self, path: &str) -> Option<Value> {
        SchemaKind::of_file(path).map(SchemaKind::schema)
    }

    fn cache(&self) -> Option<PathBuf> {
        let variables = self.global.variables();
        let base = |variables: &Variables| {
            let named = variables.get("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
            named.or_else(|| Some(PathBuf::from(variables.get("HOME")?).join(".cache")))
        };
        Some(base(variables)?.join("asterisk").join(concat!("bundled-", env!("CARGO_PKG_VERSION"))))
    }
}
