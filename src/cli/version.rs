//! `asterisk version`.

use super::{FormatArg, Global};
use crate::exit::Exit;
use crate::ui::Format;
use clap::Args;
use serde_json::json;

/// Print the version.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  asterisk version --format json")]
pub(super) struct VersionArgs {
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn version(global: &Global, args: VersionArgs) -> Exit {
    let ui = global.ui(args.format);
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    match ui.format() {
        Format::Json => ui.json(&json!({ "schema_version": 1, "name": name, "version": version })),
        Format::Pretty => ui.out(&format!("{name} {version}")),
    }
    Exit::Ok
}
