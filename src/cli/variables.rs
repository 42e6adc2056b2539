//! Arguments that a variable of the environment may give: their id is its name.

use asterisk_base::environment::Variables;
use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The beginning of such an id.
const OURS: &str = "ASTERISK_";

/// Names the variable in the help of each of these arguments.
pub(super) fn documented(command: Command) -> Command {
    each(command, &|arg| {
        let (name, help) = (arg.get_id().to_string(), arg.get_help().map(StyledStr::to_string).unwrap_or_default());
        arg.help(format!("{help} [env: {name}]")).long_help(format!("{help}\n\n[env: {name}]"))
    })
}

/// Takes the values of these arguments from the variables, unless they are given.
pub(super) fn filled_in(command: Command, variables: &Variables) -> Command {
    each(command, &|arg| match variables.get(arg.get_id().as_str()).map(ToOwned::to_owned) {
        Some(value) => arg.default_value(value).hide_default_value(true),
        None => arg,
    })
}

/// Changes these arguments of a command, and of those below it.
fn each(command: Command, change: &impl Fn(Arg) -> Arg) -> Command {
    let ours = |arg: Arg| if arg.get_id().as_str().starts_with(OURS) { change(arg) } else { arg };
    command.mut_args(ours).mut_subcommands(|command| each(command, change))
}
