//! `asterisk doctor`.

use super::{FormatArg, GlobalArgs, ProjectArgs, ci_advice};
use crate::exit::Exit;
use crate::ui::{OutputFormat, plain};
use asterisk_base::environment::Variables;
use asterisk_diag::did_you_mean;
use asterisk_files::FileOrigin;
use asterisk_session::{CheckResult, CheckState, OverlaidFile, Session, SessionError};
use asterisk_store::Depth;
use clap::Args;
use serde_json::{Value, json};

/// Check the project: its files, store, directories, repositories and the terminal. In a CI job, also suggest what to add for a better
/// analysis.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk doctor\n  asterisk doctor --deep\n  asterisk doctor --files --format json")]
pub(super) struct DoctorArgs {
    /// Also list every file and where it comes from.
    #[arg(long)]
    files: bool,
    /// Also read the whole store: compare its indices with its tables, and the hash of every content with its address.
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn doctor(global: &GlobalArgs, args: &DoctorArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let resolved = global.resolve(&args.project, None)?;
    let version = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let mut all = vec![CheckResult::new("program", "version", CheckState::Ok, version)];
    for (path, exists) in &resolved.files {
        let found = if *exists { "read" } else { "missing" };
        all.push(CheckResult::new("settings", path.display().to_string(), CheckState::Ok, found));
    }
    all.extend(variables(global.variables()));
    let session = Session::new(resolved.setup);
    all.extend(ci_advice::checks(&session, global.variables()));
    all.extend(session.checkup(if args.deep { Depth::Contents } else { Depth::Pages }));
    let terminal = if ui.on_terminal() { "a terminal" } else { "no terminal: no progress bar" };
    all.push(CheckResult::new("terminal", "stderr", CheckState::Ok, terminal));
    all.push(CheckResult::new("terminal", "width", CheckState::Ok, ui.width().to_string()));
    let files =
        if args.files || ui.format() == OutputFormat::Json { session.files_used().unwrap_or_default() } else { Vec::new() };
    let wrong = all.iter().filter(|one| one.state == CheckState::Wrong).count();
    if ui.format() == OutputFormat::Json {
        let files: Vec<Value> = files.iter().map(json).collect();
        ui.json(&json!({ "schema_version": 1, "wrong": wrong, "checks": all, "files": files }));
    } else {
        if args.files {
            let mut table = ui.table(&["file", "from"]);
            for file in &files {
                table.row([format!("{}/{}", file.area.name(), file.path), origin(file)]);
            }
            ui.out(&table.text());
            ui.out("");
        }
        let mut table = ui.table(&["", "area", "what", "found"]);
        for one in &all {
            let mark = match one.state {
                CheckState::Ok => "ok",
                CheckState::Note => "note",
                CheckState::Wrong => "WRONG",
            };
            let help = one.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
            table.row([mark, one.area, &one.name, &plain(&format!("{}{help}", one.found))]);
        }
        ui.out(&table.text());
        ui.note(&match wrong {
            0 => "no problems found".to_owned(),
            1 => "1 problem found".to_owned(),
            many => format!("{many} problems found"),
        });
    }
    Ok(if wrong > 0 { Exit::Findings } else { Exit::Ok })
}

/// Environment variables that start with `ASTERISK_` but are unknown.
fn variables(variables: &Variables) -> Vec<CheckResult> {
    let known = [
        "ASTERISK_STORE",
        "ASTERISK_SCRIPTS",
        "ASTERISK_DOMAIN",
        "ASTERISK_OUT",
        "ASTERISK_COLOR",
        "ASTERISK_CLOCK",
        "ASTERISK_SCRIPT_SECONDS",
        "ASTERISK_KEEP_CASES",
        "ASTERISK_HALT_AT",
        "ASTERISK_HALT_FILE",
        "ASTERISK_HALT_WITH",
        "ASTERISK_BENCH_GATE",
    ];
    let names = variables.iter().filter_map(|(name, _)| name.to_str());
    let ours = names.filter(|name| name.starts_with("ASTERISK_") && !known.contains(name));
    ours.map(|name| {
        let help = did_you_mean(name, known);
        CheckResult { help, ..CheckResult::new("settings", name, CheckState::Wrong, "this variable is not used") }
    })
    .collect()
}

fn origin(file: &OverlaidFile) -> String {
    match &file.origin {
        FileOrigin::Embedded => "bundled".to_owned(),
        FileOrigin::File(path) if file.replaces => format!("{} (replaces the bundled one)", path.display()),
        FileOrigin::File(path) => path.display().to_string(),
    }
}

fn json(file: &OverlaidFile) -> Value {
    let path = match &file.origin {
        FileOrigin::Embedded => None,
        FileOrigin::File(path) => Some(path),
    };
    json!({
        "area": file.area.name(), "path": file.path, "origin": path.map_or("bundled", |_| "file"), "file": path,
        "replaces_bundled": file.replaces, "used": file.used,
    })
}
