//! `asterisk completions`.

use super::{GlobalArgs, command_line};
use crate::exit::Exit;
use crate::ui::OutputFormat;
use clap::Args;
use clap_complete::{Shell, generate};

/// Print a shell's completions.
#[derive(Clone, Copy, Debug, Args)]
#[command(
    hide = true,
    after_help = "Examples:\n  asterisk completions bash > asterisk.bash\n  \
                        asterisk completions zsh > _asterisk\n  asterisk completions fish > asterisk.fish"
)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn completions(global: &GlobalArgs, args: CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    generate(args.shell, &mut command_line(), "asterisk", &mut script);
    global.printer(OutputFormat::Pretty).out(&String::from_utf8_lossy(&script));
    Exit::Ok
}
