//! `asterisk man`.

use super::{FormatArg, GlobalArgs, command_line};
use crate::exit::Exit;
use crate::ui::OutputFormat;
use asterisk_files::unpack;
use asterisk_session::SessionError;
use clap::{Args, Command};
use serde_json::json;
use std::path::PathBuf;

/// Write the man pages of the program and of each command.
#[derive(Debug, Args)]
#[command(hide = true, after_help = "Examples:\n  asterisk man man1\n  asterisk man > asterisk.1")]
pub(super) struct ManArgs {
    /// The directory to write them to [default: print the program's own page].
    dir: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn man(global: &GlobalArgs, args: &ManArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let pages = pages();
    let mut written = Vec::new();
    if let Some(dir) = &args.dir {
        unpack(dir, &pages, true).map_err(super::init::unpack_error)?;
        written.extend(pages.iter().map(|(name, _)| dir.join(name).display().to_string()));
    }
    match (ui.format(), &args.dir) {
        (OutputFormat::Json, Some(_)) => ui.json(&json!({ "schema_version": 1, "pages": written })),
        (OutputFormat::Json, None) => {
            let pages: Vec<_> = pages.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect();
            ui.json(&json!({ "schema_version": 1, "pages": pages }));
        }
        (OutputFormat::Pretty, Some(_)) => written.iter().for_each(|path| ui.out(path)),
        (OutputFormat::Pretty, None) => ui.out(pages.first().map_or("", |(_, text)| text)),
    }
    Ok(Exit::Ok)
}

/// Name and text of every page, the program's own first.
fn pages() -> Vec<(String, String)> {
    let mut root = command_line().disable_help_subcommand(true);
    root.build();
    let page = |command: &Command, name: &str| {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        drop(clap_mangen::Man::new(command.clone()).render(&mut text));
        (format!("{name}.1"), String::from_utf8_lossy(&text).into_owned())
    };
    let own = page(&root, "asterisk");
    let of_commands = root.get_subcommands().map(|command| page(command, &format!("asterisk-{}", command.get_name())));
    std::iter::once(own).chain(of_commands).collect()
}
