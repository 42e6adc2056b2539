//! `asterisk help`, and the commands by task.

use super::{full_command_line, usage};
use crate::exit::Exit;
use crate::ui::Ui;
use clap::{Args, Command};
use std::fmt::Write as _;

/// Print the commands of a task with examples, or the help of a command.
///
/// The tasks: investigate, goal, why, edit, agents, maintain.
#[derive(Debug, Args)]
#[command(hide = true, after_help = "Examples:\n  asterisk help investigate\n  asterisk help run\n  asterisk help goal memory")]
pub(super) struct HelpArgs {
    /// A task, or a command [default: list all].
    #[arg(value_name = "TASK|COMMAND")]
    topic: Vec<String>,
}

/// Tasks by name, each with a heading and its commands. A task named like its only command is that command.
const TASKS: &[(&str, &str, &[&str])] = &[
    ("investigate", "Investigate", &["run", "ci", "status", "report", "review", "rca", "push"]),
    ("goal", "Pursue a goal", &["goal"]),
    ("why", "Ask why", &["explain", "diff", "replay", "coverage", "graph", "repl", "dap"]),
    (
        "edit",
        "Edit and test",
        &["tour", "init", "new", "fmt", "lint", "test", "calibrate", "learn", "eval", "show", "doc", "lsp"],
    ),
    ("agents", "Work with agents", &["serve", "cursor", "save"]),
    ("maintain", "Maintain", &["doctor", "config", "store", "worker", "clean"]),
];

/// The maximum number of examples of a command in the help of a task.
const EXAMPLES: usize = 2;

pub(super) fn help(ui: &Ui, args: &HelpArgs) -> Exit {
    let command = full_command_line(ui);
    if let [topic] = args.topic.as_slice()
        && command.find_subcommand(topic).is_none()
        && let Some((_, title, names)) = TASKS.iter().find(|(task, ..)| task == topic)
    {
        ui.out(&task(&command, title, names));
        return Exit::Ok;
    }
    let arguments = ["asterisk"].into_iter().chain(args.topic.iter().map(String::as_str)).chain(["--help"]);
    command.try_get_matches_from(arguments).err().map_or(Exit::Ok, |error| usage(ui, &error))
}

/// The commands of a task, each with examples.
fn task(command: &Command, title: &str, names: &[&str]) -> String {
    let mut text = format!("{title}:\n");
    for found in names.iter().filter_map(|name| command.find_subcommand(name)) {
        let _ = writeln!(text, "\n{}: {}", found.get_name(), summary(found));
        for example in examples(found).into_iter().take(EXAMPLES) {
            let _ = writeln!(text, "  {example}");
        }
    }
    text + "\nFor all options of a command: asterisk help COMMAND"
}

fn summary(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// The example lines at the end of a command's help.
fn examples(command: &Command) -> Vec<String> {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = text.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
    lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Groups the subcommands in the help of a command, in lines of at most `width` columns.
pub(super) fn grouped(command: Command, width: usize) -> Command {
    let mut text = String::new();
    let heading = *command.get_styles().get_header();
    let indent = TASKS.iter().flat_map(|(.., names)| *names).map(|name| name.len()).max().unwrap_or_default() + 4;
    for (_, title, names) in TASKS {
        let _ = writeln!(text, "{heading}{title}:{heading:#}");
        for found in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let first = format!("  {:<rest$}", found.get_name(), rest = indent - 2);
            let hanging = " ".repeat(indent);
            let options = textwrap::Options::new(width).initial_indent(&first).subsequent_indent(&hanging);
            let _ = writeln!(text, "{}", textwrap::fill(&summary(found), options));
        }
        text.push('\n');
    }
    // clap's own template, with the groups in place of its single list.
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    let tasks: Vec<&str> = TASKS.iter().map(|(task, ..)| *task).collect();
    command
        .before_help(text.trim_end().to_owned())
        .after_help(format!("For examples by task: asterisk help TASK ({})", tasks.join(", ")))
        .help_template(template)
}

#[cfg(test)]
mod tests {
    use super::super::command_line;
    use super::*;

    #[test]
    fn every_visible_command_belongs_to_one_task() {
        let command = command_line();
        let mut listed: Vec<&str> = TASKS.iter().flat_map(|(.., names)| *names).copied().collect();
        let mut all: Vec<&str> = command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn the_help_of_a_task_shows_examples_of_each_command() {
        let command = command_line();
        for (name, title, names) in TASKS {
            let text = task(&command, title, names);
            for one in *names {
                let example = format!("asterisk {one}");
                assert!(text.contains(&format!("\n{one}: ")) && text.contains(&example), "{name}: {one}\n{text}");
            }
            // Its name is not that of a command, or it has that command alone.
            assert!(command.find_subcommand(name).is_none() || *names == [*name], "{name}");
        }
    }
}
