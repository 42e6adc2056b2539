//! The REPL commands: one table for parsing, completion and help.

use asterisk_diag::{Diagnostic, Source, Span, did_you_mean};

/// The action of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Cases,
    Case,
    Steps,
    Evidence,
    Verdict,
    Root,
    Try,
    At,
    Next,
    Back,
    Why,
    Flip,
    Diff,
    Set,
    Unset,
    Load,
    State,
    Reload,
    Follow,
    Graph,
    Doc,
    Time,
    Full,
    SaveAsTest,
    Help,
    Quit,
}

/// The type of a command's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompletionKind {
    Nothing,
    Case,
    Step,
    Edge,
    Var,
    /// A function, script or edge.
    Name,
    Command,
    /// A word or number specific to the command.
    Word,
    /// A file, or JSON.
    Data,
    File,
    /// An optional expression.
    Expression,
}

#[derive(Debug)]
pub(super) struct ReplCommand {
    pub(super) name: &'static str,
    pub(super) verb: Verb,
    pub(super) takes: CompletionKind,
    /// The argument as shown in help.
    pub(super) usage: &'static str,
    pub(super) doc: &'static str,
}

const fn command(name: &'static str, verb: Verb, takes: CompletionKind, usage: &'static str, doc: &'static str) -> ReplCommand {
    ReplCommand { name, verb, takes, usage, doc }
}

/// All commands, in the order of the help.
pub(super) const COMMANDS: &[ReplCommand] = &[
    command(
        "cases",
        Verb::Cases,
        CompletionKind::Word,
        "[TEXT]",
        "list the cases of the run (with TEXT in their id, name or path)",
    ),
    command("case", Verb::Case, CompletionKind::Case, "ID|N", "go to the first step of a case, given by its id or list number"),
    command("steps", Verb::Steps, CompletionKind::Nothing, "", "list the steps of the case"),
    command("evidence", Verb::Evidence, CompletionKind::Nothing, "", "show the evidence of the case"),
    command(
        "verdict",
        Verb::Verdict,
        CompletionKind::Word,
        "[CODE]",
        "show the verdict of the case and the rules and signatures that matched, or why it is not CODE",
    ),
    command(
        "root",
        Verb::Root,
        CompletionKind::Case,
        "[ID]",
        "show the root of the case, or why the case ID has the same cause or a different one",
    ),
    command(
        "try",
        Verb::Try,
        CompletionKind::Word,
        "\"LINE\"",
        "show the signatures that match a log line, where they match, and where they are defined",
    ),
    command("at", Verb::At, CompletionKind::Step, "N|+N|-N|NODE", "go to a step; without a run, to a node"),
    command("next", Verb::Next, CompletionKind::Nothing, "", "go one step forward"),
    command("back", Verb::Back, CompletionKind::Nothing, "", "go one step back"),
    command(
        "why",
        Verb::Why,
        CompletionKind::Edge,
        "[EDGE]",
        "show which edge was taken at this step, and why; or explain one edge",
    ),
    command("flip", Verb::Flip, CompletionKind::Edge, "EDGE", "show changes that make EDGE fire, or keep it from firing"),
    command("diff", Verb::Diff, CompletionKind::Step, "[STEP]", "show the differences from the previous step, or from STEP"),
    command(
        "set",
        Verb::Set,
        CompletionKind::Var,
        "[NAME=VALUE]",
        "set a var and re-evaluate decisions; without an argument, list the vars",
    ),
    command("unset", Verb::Unset, CompletionKind::Var, "[NAME]", "reset a var, or all vars"),
    command("load", Verb::Load, CompletionKind::Data, "FILE|JSON", "replace the artifact of this step until you leave it"),
    command(
        "state",
        Verb::State,
        CompletionKind::Data,
        "FILE|JSON",
        "replace the state of this step: {loops, context, history, ...}",
    ),
    command("reload", Verb::Reload, CompletionKind::Word, "[recorded]", "use the current scripts, or the recorded ones again"),
    command("follow", Verb::Follow, CompletionKind::Nothing, "", "show new steps of the case until it is done"),
    command("graph", Verb::Graph, CompletionKind::Word, "[mermaid|dot]", "show the pipeline and your position in it"),
    command(
        "doc",
        Verb::Doc,
        CompletionKind::Name,
        "NAME",
        "document a function, a script or an edge, or the fields of `state`, `params` and `vars`",
    ),
    command("time", Verb::Time, CompletionKind::Expression, "EXPRESSION", "measure the time of an expression"),
    command("full", Verb::Full, CompletionKind::Expression, "EXPRESSION", "print the whole value of an expression"),
    command(
        "save-as-test",
        Verb::SaveAsTest,
        CompletionKind::File,
        "[FILE]",
        "save the decision of this step as a test, next to its rule",
    ),
    command("help", Verb::Help, CompletionKind::Command, "[COMMAND]", "show this list, or the usage of a command"),
    command("quit", Verb::Quit, CompletionKind::Word, "[CODE]", "end the session"),
];

/// The code of errors of commands.
pub(super) const CODE: &str = "repl/command";

/// Words for help and exit that work without a colon.
const WORDS: &[(&str, &str)] = &[("help", "help"), ("?", "help"), ("exit", "quit"), ("quit", "quit")];

/// The command for a word alone on its line.
fn word(typed: &str) -> Option<&'static ReplCommand> {
    let (_, name) = WORDS.iter().find(|(word, _)| *word == typed)?;
    COMMANDS.iter().find(|command| command.name == *name)
}

/// Parses a command: the command, its argument, and the argument's offset; `None` for an expression.
pub(super) fn parse(text: &Source) -> Result<Option<(&'static ReplCommand, &str, usize)>, Box<Diagnostic>> {
    let trimmed = text.text().trim_start();
    let start = text.text().len() - trimmed.len();
    let Some(rest) = trimmed.strip_prefix(':') else {
        return Ok(word(trimmed.trim_end()).map(|command| (command, "", text.text().len())));
    };
    let name = rest.split(char::is_whitespace).next().unwrap_or_default();
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let typed = format!(":{name}");
        let hint = (!name.is_empty()).then(|| did_you_mean(&typed, names().iter().map(String::as_str))).flatten();
        let diagnostic = Diagnostic::error(CODE, format!("unknown command `:{name}`"));
        let span = Span::new(start, start + 1 + name.len());
        return Err(Box::new(diagnostic.label(text, span, "").help(hint.unwrap_or_else(|| ":help lists the commands".into()))));
    };
    let behind = &rest[name.len()..];
    let argument = behind.trim_start();
    let at = start + 1 + name.len() + (behind.len() - argument.len());
    let argument = argument.trim_end();
    if command.takes == CompletionKind::Nothing && !argument.is_empty() {
        let diagnostic = Diagnostic::error(CODE, format!("`:{name}` takes no argument"));
        return Err(Box::new(diagnostic.label(text, Span::new(at, at + argument.len()), "").help(usage(command))));
    }
    Ok(Some((command, argument, at)))
}

/// `:name ARGS`, and its description.
pub(super) fn usage(command: &ReplCommand) -> String {
    let space = if command.usage.is_empty() { "" } else { " " };
    format!(":{}{space}{}: {}", command.name, command.usage, command.doc)
}

/// The commands with their colons.
pub(super) fn names() -> Vec<String> {
    COMMANDS.iter().map(|command| format!(":{}", command.name)).collect()
}

/// The text of `:help`.
pub(super) fn help() -> String {
    let shown: Vec<(String, &str)> =
        COMMANDS.iter().map(|command| (format!(":{} {}", command.name, command.usage), command.doc)).collect();
    let width = shown.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let lines: Vec<String> = shown.iter().map(|(name, doc)| format!("  {name:width$}  {doc}")).collect();
    format!(
        "Anything else is an expression over `artifact`, `state`, `vars` and `params` of the step; the fields of the artifact\n\
         are variables. `let x = ..` binds a name for the session, `_` is the last result; `exit` and `help` need no colon.\n{}",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        let source = Source::new("typed", text);
        match parse(&source) {
            Ok(None) => "expression".into(),
            Ok(Some((command, argument, at))) => format!("{:?} `{argument}` {at}", command.verb),
            Err(diagnostic) => format!("{diagnostic} | {}", diagnostic.help.clone().unwrap_or_default()),
        }
    }

    #[test]
    fn a_colon_begins_a_command() {
        for (text, wanted) in [
            ("  :at  triage ", "At `triage` 7"),
            (":steps", "Steps `` 6"),
            (":time 1 + 2", "Time `1 + 2` 6"),
            ("a ? :b", "expression"),
            (" exit ", "Quit `` 6"),
            ("?", "Help `` 1"),
            ("help + 1", "expression"),
            (":stesp", "typed:1:1: unknown command `:stesp` | did you mean `:steps`?"),
            (":", "typed:1:1: unknown command `:` | :help lists the commands"),
            (":steps 3", "typed:1:8: `:steps` takes no argument | :steps: list the steps of the case"),
        ] {
            assert_eq!(parsed(text), wanted, "{text}");
        }
    }

    #[test]
    fn every_command_is_unique_and_documented() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
        for command in COMMANDS {
            assert!(help().contains(command.doc) && !command.doc.ends_with('.'), "{}", command.name);
            assert!(usage(command).starts_with(&format!(":{}", command.name)));
        }
    }
}
