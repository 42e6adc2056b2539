//! `asterisk repl`.

use super::{GlobalArgs, ProjectArgs};
use crate::config::history_file;
use crate::exit::Exit;
use crate::repl::{self, ReplSpec};
use crate::ui::OutputFormat;
use asterisk_session::SessionError;
use clap::Args;

/// Explore a run step by step, or try expressions on an artifact of your own.
///
/// Input is an expression over `artifact`, `state` and `vars`, or a command (`:help`). With piped input only the answers are
/// printed; the first error determines the exit code.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk repl --run latest\n  echo ':why' | asterisk repl --run\n  echo 'round_to(0.8349, 2)' | asterisk repl"
)]
pub(super) struct ReplArgs {
    /// The pipeline, without a run: a path, a file stem, or a `pipeline:` name [default: rca].
    #[arg(conflicts_with = "run")]
    pipeline: Option<String>,
    /// The run to explore [without a value: latest].
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    run: Option<String>,
    /// The first case to show [default: the first of the run].
    #[arg(long, value_name = "ID", requires = "run")]
    case: Option<String>,
    /// With piped input: stop at the first error.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

pub(super) fn repl(global: &GlobalArgs, args: &ReplArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(OutputFormat::Pretty);
    let session = global.session(&args.project, None)?;
    let ReplArgs { pipeline, run, case, strict, .. } = args;
    let spec = ReplSpec {
        pipeline: pipeline.clone(),
        run: run.clone(),
        case: case.clone(),
        strict: *strict,
        history: history_file(global.variables()),
    };
    repl::run(ui, session, spec)
}
