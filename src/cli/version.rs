//! `asterisk version`.

use super::{FormatArg, GlobalArgs};
use crate::exit::Exit;
use crate::ui::OutputFormat;
use clap::Args;
use serde_json::json;

/// Print the version.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  asterisk version --format json")]
pub(super) struct VersionArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn version(global: &GlobalArgs, args: VersionArgs) -> Exit {
    let ui = &global.ui(args.format);
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "name": name, "version": version })),
        OutputFormat::Pretty => ui.out(&format!("{name} {version}")),
    }
    Exit::Ok
}
