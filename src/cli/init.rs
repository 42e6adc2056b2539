//! `asterisk init`.

use super::{FormatArg, GlobalArgs};
use crate::config::{self, SchemaKind};
use crate::exit::Exit;
use crate::ui::{OutputFormat, plain};
use asterisk_base::environment::Environment;
use asterisk_base::model::shell;
use asterisk_diag::Diagnostic;
use asterisk_files::{Area, UnpackError, unpack};
use asterisk_session::SessionError;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write out the bundled scripts, pipelines and templates for editing, and the JSON Schemas of all YAML files for editors.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk init heuristics --only scripts\n  asterisk init my-project\n  asterisk init --minimal\n  asterisk init --only schemas"
)]
pub(super) struct InitArgs {
    /// The directory to write to.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Only these parts.
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    only: Vec<InitPart>,
    /// Write a minimal project: a short `asterisk.yaml`, the edge rules, and a test of one of their decisions.
    #[arg(long, conflicts_with = "only")]
    minimal: bool,
    /// Overwrite existing files with different contents.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InitPart {
    Scripts,
    Pipelines,
    Templates,
    /// `asterisk.yaml`.
    Config,
    /// The JSON Schemas of YAML files, for editors.
    Schemas,
}

impl InitPart {
    fn of(area: Area) -> Self {
        match area {
            Area::Scripts | Area::Tests => Self::Scripts,
            Area::Pipelines => Self::Pipelines,
            Area::Templates => Self::Templates,
        }
    }
}

pub(super) fn init(global: &GlobalArgs, args: &InitArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let (areas, files) = if args.minimal { minimal(args) } else { whole(args) };
    let done = unpack(&args.dir, &files, args.force).map_err(unpack_error)?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "dir": args.dir, "written": done.written, "unchanged": done.same }));
        return Ok(Exit::Ok);
    }
    let dir = plain(&args.dir.display().to_string());
    ui.out(&format!("{} files written to {dir}, {} already existed", done.written.len(), done.same.len()));
    if args.minimal {
        done.written.iter().for_each(|name| ui.out(&format!("  {name}")));
    }
    let own = |name: &String| name == config::PROJECT_FILE;
    let unused = unused(&global.environment, &args.dir, &areas);
    if !unused.is_empty() && !done.written.iter().chain(&done.same).any(own) {
        let keys: Vec<String> = unused.iter().map(|area| format!("{0}: {0}", area.name())).collect();
        ui.note(&format!("{} is unchanged; to use the new files, add: {}", config::PROJECT_FILE, keys.join(", ")));
    }
    let cd = if dir == "." { String::new() } else { format!("cd {} && ", shell(&args.dir.display().to_string())) };
    if args.minimal {
        let place = if dir == "." { String::new() } else { format!("in {dir}, ") };
        ui.note(&format!("next: {place}edit {RULES}; then: asterisk lint && asterisk test"));
    } else {
        ui.note(&format!("next: {cd}asterisk run      (deleting a file restores the bundled one; see asterisk doctor)"));
    }
    Ok(Exit::Ok)
}

/// The edge rules that a minimal project overrides.
pub(super) const RULES: &str = "scripts/rules/rca.rhai";

/// The tests of a minimal project.
pub(super) const DECISIONS: &str = "scripts/rules/decisions_test.rhai";

/// The areas and files of a minimal project. An existing project file is kept.
fn minimal(args: &InitArgs) -> (Vec<Area>, Vec<(String, String)>) {
    let rules = RULES.strip_prefix("scripts/").unwrap_or(RULES);
    let embedded = Area::Scripts.embedded_file(rules).into_iter();
    let mut files: Vec<(String, String)> = embedded.map(|file| (RULES.to_owned(), file.text().to_owned())).collect();
    files.push((DECISIONS.to_owned(), include_str!("init/decisions_test.rhai").to_owned()));
    if !args.dir.join(config::PROJECT_FILE).exists() || args.force {
        files.push((config::PROJECT_FILE.to_owned(), include_str!("init/asterisk.yaml").to_owned()));
    }
    (vec![Area::Scripts], files)
}

/// The areas and files of the bundle, or of the parts that were requested.
fn whole(args: &InitArgs) -> (Vec<Area>, Vec<(String, String)>) {
    let wanted = |part: InitPart| args.only.is_empty() || args.only.contains(&part);
    let areas: Vec<Area> = Area::ALL.into_iter().filter(|area| wanted(InitPart::of(*area))).collect();
    let mut files: Vec<(String, String)> = Vec::new();
    let tests = wanted(InitPart::Scripts).then_some(Area::Tests);
    for area in areas.iter().copied().chain(tests) {
        files.extend(area.embedded().iter().map(|file| (format!("{}/{}", area.name(), file.name()), file.text().to_owned())));
    }
    // An existing project file is only replaced if it is named explicitly.
    let exists = args.dir.join(config::PROJECT_FILE).exists();
    let is_named = args.only.contains(&InitPart::Config) || (args.force && args.only.is_empty());
    if !exists || is_named {
        let schema = SchemaKind::Project;
        let named = wanted(InitPart::Schemas) || args.dir.join(schema.file()).exists();
        let line = named.then(|| schema.modeline(Path::new(""), Path::new(config::PROJECT_FILE))).flatten();
        files.push((config::PROJECT_FILE.to_owned(), line.unwrap_or_default() + config::template(&areas).as_str()));
    }
    if wanted(InitPart::Schemas) {
        files.extend(SchemaKind::files());
    }
    (areas, files)
}

/// The areas for which a command run in `dir` would not use the directory below it.
fn unused(environment: &Environment, dir: &Path, areas: &[Area]) -> Vec<Area> {
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    // Unreadable settings use nothing, and the next command reports the error.
    let Ok(config::ResolvedSettings { setup, .. }) = config::resolve(config::CommandLine::default(), &dir, environment) else {
        return areas.to_vec();
    };
    let used = |area: Area| match area {
        Area::Scripts | Area::Tests => &setup.texts.scripts,
        Area::Pipelines => &setup.pipelines,
        Area::Templates => &setup.templates,
    };
    let same = |area: Area| used(area).as_ref().is_some_and(|used| used.components().eq(dir.join(area.name()).components()));
    areas.iter().copied().filter(|area| !same(*area)).collect()
}

/// The error for files that could not be written.
pub(super) fn unpack_error(error: UnpackError) -> SessionError {
    match error {
        UnpackError::Io { path, source } => SessionError::Write { path: path.display().to_string(), source },
        UnpackError::Exists(_) => {
            let help = "--force overwrites them; --only selects parts; to write elsewhere, pass another directory";
            SessionError::BadRequest(Box::new(Diagnostic::error("output/exists", error.to_string()).help(help)))
        }
        UnpackError::NotAFile(_) => {
            let help = "move it away, or pass another directory";
            SessionError::BadRequest(Box::new(Diagnostic::error("output/not-a-file", error.to_string()).help(help)))
        }
    }
}
