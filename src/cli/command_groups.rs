//! The commands by purpose, for `asterisk --help`.

use clap::Command;
use std::fmt::Write as _;

/// Headings, and the commands under each.
const GROUPS: &[(&str, &[&str])] = &[
    ("Investigate", &["run", "ci", "runs", "status", "report", "review", "rca", "push"]),
    ("Pursue a goal", &["goal", "memory", "dream", "audit"]),
    ("Ask why", &["explain", "blame", "diff", "replay", "sweep", "coverage", "graph", "prompt", "repl"]),
    (
        "Edit and prove",
        &["tour", "init", "new", "lint", "test", "calibrate", "score", "gt", "learn", "call", "route", "show", "doc", "schema"],
    ),
    ("Serve", &["serve", "cursor", "save"]),
    ("Maintain", &["doctor", "config", "clean", "completions", "man", "version"]),
];

/// Groups the subcommands in the help of a command, in lines of at most `width` columns.
pub(super) fn grouped(command: Command, width: usize) -> Command {
    let mut text = String::new();
    let heading = *command.get_styles().get_header();
    let indent = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default() + 4;
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{heading}{title}:{heading:#}");
        for about in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let summary = about.get_about().map(ToString::to_string).unwrap_or_default();
            let first = format!("  {:<rest$}", about.get_name(), rest = indent - 2);
            let hanging = " ".repeat(indent);
            let options = textwrap::Options::new(width).initial_indent(&first).subsequent_indent(&hanging);
            let _ = writeln!(text, "{}", textwrap::fill(&summary, options));
        }
        text.push('\n');
    }
    // clap's own template, with the groups in place of its single list.
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}{heading}Options:{heading:#}\n{{options}}"
    );
    command.before_help(text.trim_end().to_owned()).help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_one_group() {
        let command = super::super::Cli::command();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }
}
