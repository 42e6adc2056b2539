//! `asterisk dap`.

use super::{GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use asterisk_debugger::{ProjectChoice, serve};
use asterisk_session::{Session, SessionError};
use clap::Args;
use std::path::PathBuf;

/// Debug recorded decisions in an editor, over the Debug Adapter Protocol on standard input and output.
///
/// An editor starts it. It steps through the rules of a recorded case, forwards and backwards, with the inputs that they had.
/// `docs/debugging.md` describes how to set up editors.
#[derive(Debug, Args)]
#[command(
    after_help = "The editor names the run and the case: {\"type\": \"asterisk\", \"request\": \"launch\", \"run\": \"latest\", \"case\": 1}.\n\n\
                  Examples:\n  asterisk dap\n  asterisk dap --store rca.db"
)]
pub(super) struct DapArgs {
    #[command(flatten)]
    project: ProjectArgs,
}

pub(super) fn dap(global: &GlobalArgs, args: &DapArgs) -> Exit {
    let open = |choice: &ProjectChoice| open(global, args, choice);
    let mut output = global.environment.output().writer();
    let served = serve(&mut **global.environment.input().lock(), &mut *output, &open);
    drop(output);
    global.environment.output().record(served);
    Exit::Ok
}

/// Opens the project that an editor names; what it does not name is that of the command line.
fn open(global: &GlobalArgs, args: &DapArgs, choice: &ProjectChoice) -> Result<Session, SessionError> {
    let ProjectChoice { project, store, scripts } = choice;
    let mut global = global.clone();
    let mut args = args.project.clone();
    let directory = project.as_ref().map(|project| global.environment.directory().join(project));
    global.store = store.as_ref().map(PathBuf::from).or(global.store);
    args.scripts = scripts.as_ref().map(PathBuf::from).or(args.scripts);
    global.session_in(&args, directory.as_deref())
}
