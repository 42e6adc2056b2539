//! `asterisk doctor`.

use super::{FormatArg, Global, ProjectArgs};
use crate::diag::did_you_mean;
use crate::exit::Exit;
use crate::files::Origin;
use crate::session::{Checkup, ProjectFile, Session, SessionError, State};
use crate::store::Depth;
use crate::ui::{Format, plain};
use clap::Args;
use serde_json::{Value, json};

/// Look the project over: files and where they come from, store, directories, repositories, terminal.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk doctor\n  asterisk doctor --deep\n  asterisk doctor --files --format json")]
pub(super) struct DoctorArgs {
    /// Also list every file with where it comes from.
    #[arg(long)]
    files: bool,
    /// Also read all of the store: compare its indices with its tables, and every content with its address.
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn doctor(global: &Global, args: &DoctorArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let resolved = global.resolve(&args.project, None)?;
    let version = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let mut all = vec![Checkup::new("program", "version", State::Ok, version)];
    for (path, there) in &resolved.files {
        let found = if *there { "read" } else { "not there" };
        all.push(Checkup::new("settings", path.display().to_string(), State::Ok, found));
    }
    all.extend(variables());
    let session = Session::new(resolved.setup);
    all.extend(session.checkup(if args.deep { Depth::Contents } else { Depth::Pages }));
    let terminal = if ui.on_terminal() { "a terminal" } else { "no terminal: no progress bar" };
    all.push(Checkup::new("terminal", "stderr", State::Ok, terminal));
    all.push(Checkup::new("terminal", "width", State::Ok, ui.width().to_string()));
    let files = if args.files || ui.format() == Format::Json { session.files_used().unwrap_or_default() } else { Vec::new() };
    let wrong = all.iter().filter(|one| one.state == State::Wrong).count();
    if ui.format() == Format::Json {
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
                State::Ok => "ok",
                State::Note => "note",
                State::Wrong => "WRONG",
            };
            let help = one.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
            table.row([mark, one.area, &one.name, &plain(&format!("{}{help}", one.found))]);
        }
        ui.out(&table.text());
        ui.note(&match wrong {
            0 => "nothing is wrong".to_owned(),
            1 => "1 thing is wrong".to_owned(),
            many => format!("{many} things are wrong"),
        });
    }
    Ok(if wrong > 0 { Exit::Findings } else { Exit::Ok })
}

/// Environment variables that begin like ours and mean nothing.
fn variables() -> Vec<Checkup> {
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
    let mut names: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort();
    let ours = names.into_iter().filter(|name| name.starts_with("ASTERISK_") && !known.contains(&name.as_str()));
    ours.map(|name| {
        let help = did_you_mean(&name, known);
        Checkup { help, ..Checkup::new("settings", name, State::Wrong, "nothing reads this variable") }
    })
    .collect()
}

fn origin(file: &ProjectFile) -> String {
    match &file.origin {
        Origin::Embedded => "bundled".to_owned(),
        Origin::File(path) if file.replaces => format!("{} (instead of the bundled one)", path.display()),
        Origin::File(path) => path.display().to_string(),
    }
}

fn json(file: &ProjectFile) -> Value {
    let path = match &file.origin {
        Origin::Embedded => None,
        Origin::File(path) => Some(path),
    };
    json!({
        "area": file.area.name(), "path": file.path, "origin": path.map_or("bundled", |_| "file"), "file": path,
        "replaces_bundled": file.replaces, "used": file.used,
    })
}
