//! `asterisk tour`.

use super::GlobalArgs;
use super::init::{DECISIONS, RULES};
use crate::exit::Exit;
use crate::ui::{OutputFormat, TextStyle, Ui};
use asterisk_base::model::shell;
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_files::OutDir;
use asterisk_session::SessionError;
use clap::Args;
use std::fs;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The maximum number of output lines shown per command.
const MAX_LINES: usize = 18;

/// Take a guided tour: analyse a report, explain a decision, edit a rule, test the edit and replay it, in a scratch directory.
///
/// Every step runs a command and checks its output. On a terminal, each step waits for Enter; with --yes, or without a terminal, they run
/// one after another. The directory is removed at the end unless it was given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk tour\n  asterisk tour my-first-project --yes")]
pub(super) struct TourArgs {
    /// The directory, which must be empty or not exist yet [default: a temporary one].
    dir: Option<PathBuf>,
    /// Do not wait between the steps.
    #[arg(long, short)]
    yes: bool,
}

/// Replaces a text in a file.
struct TourEdit {
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

/// A step: its purpose, the edits before it, the command, and a text that the output must contain.
struct TourStep {
    says: &'static str,
    edits: &'static [TourEdit],
    command: &'static [&'static str],
    prints: &'static str,
}

/// The case that the tour follows.
const CASE: &str = "880201";

const STEPS: &[TourStep] = &[
    TourStep {
        says: "This analyses a launch with failed tests. Each entry is a cause of failures: what happened, in how many tests, whose defect \
               it is, the confidence, where, and what to do next. Analyse your own reports with `asterisk run --input junit.xml`, and in CI with `asterisk ci`.",
        edits: &[],
        command: &["run"],
        prints: "report: ",
    },
    TourStep {
        says: "Every decision is recorded with its reasons. This shows the path of one case: the edges at each step, and why each fired or \
               did not. H7 skipped the choice of a repository, since there was only one.",
        edits: &[],
        command: &["explain", "latest", "--case", CASE],
        prints: "by H7",
    },
    TourStep {
        says: "Rules are short scripts, and a file in your project overrides the bundled file with the same path. This writes a minimal \
               project: the edge rules, and a test of one of their decisions.",
        edits: &[],
        command: &["init", "--minimal"],
        prints: RULES,
    },
    TourStep {
        says: "Now an edit: a crash should not be attributed to the only repository. The rule gets a line, and the test states the expected \
               decision. Lint finds typos and suspicious code before anything runs.",
        edits: &[
            TourEdit {
                file: RULES,
                from: "fn triage_single_repo(artifact, state, vars) {\n",
                to: "fn triage_single_repo(artifact, state, vars) {\n    if artifact.symptom_category == \"crash\" { return false; }\n",
            },
            TourEdit {
                file: DECISIONS,
                from: "/// With one candidate repository there is nothing to choose.\nfn test_a_crash_in_the_only_repository_is_investigated() {",
                to: "/// Even with one candidate repository, the others are considered.\nfn test_a_crash_in_the_only_repository_is_resolved() {",
            },
            TourEdit { file: DECISIONS, from: "\"investigate\"", to: "\"resolve\"" },
        ],
        command: &["lint"],
        prints: "nothing found",
    },
    TourStep {
        says: "The test evaluates the edited rules on a single decision, without a launch.",
        edits: &[],
        command: &["test", DECISIONS],
        prints: "1 passed",
    },
    TourStep {
        says: "What would the edit have changed? This re-evaluates the recorded decisions with the edited rules, without calling any agent, \
               and lists those that differ.",
        edits: &[],
        command: &["replay", "latest"],
        prints: "H7 -> H6",
    },
    TourStep {
        says: "Finally, this analyses the case with the edited rules: H6 fires, and the path includes F2, the choice of a repository. \
               (--no-recall ignores what the first run remembers.)",
        edits: &[],
        command: &["run", "--case", CASE, "--no-recall", "--verbose"],
        prints: "by H6",
    },
];

pub(super) fn tour(global: &GlobalArgs, args: &TourArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(OutputFormat::Pretty);
    let scratch;
    let dir = match &args.dir {
        Some(dir) => new_directory(dir)?,
        None => {
            scratch = tempfile::Builder::new()
                .prefix("asterisk-tour-")
                .tempdir()
                .map_err(write_failed(Path::new("a temporary directory")))?;
            scratch.path()
        }
    };
    // A project file of its own, so that no parent directory is taken for the project.
    OutDir::create(&dir.join(".asterisk")).map_err(write_failed(dir))?;
    let waits = ui.is_interactive() && !args.yes;
    let began = Instant::now();
    for (index, step) in STEPS.iter().enumerate() {
        ui.out(&TextStyle::Bold.paint(&format!("{} of {}", index + 1, STEPS.len())));
        ui.out(&textwrap::fill(step.says, ui.width().min(100)));
        for edit in step.edits {
            apply(ui, dir, edit)?;
        }
        ui.out("");
        ui.out(&TextStyle::Green.paint(&format!("$ asterisk {}", step.command.join(" "))));
        if waits && !wants_next(ui)? {
            ui.note("the tour ends here; `asterisk tour` starts again");
            return Ok(Exit::Ok);
        }
        run(ui, dir, step)?;
        ui.out("");
    }
    let seconds = began.elapsed().as_secs();
    ui.out(&format!("{}, all as expected, in {}.", counted(STEPS.len(), "command", "commands"), counted_seconds(seconds)));
    ui.out("Next: `asterisk init --minimal` in a project of yours, `asterisk ci` where its tests have run, `asterisk new --help` for rules of your own.");
    if let Some(dir) = &args.dir {
        ui.out(&format!(
            "The project is in {}; run `asterisk report latest` there for the pages of the report.",
            shell(&dir.display().to_string())
        ));
    }
    Ok(Exit::Ok)
}

fn counted_seconds(seconds: u64) -> String {
    if seconds == 1 { "1 second".to_owned() } else { format!("{seconds} seconds") }
}

fn write_failed(path: &Path) -> impl FnOnce(io::Error) -> SessionError {
    let path = path.display().to_string();
    |source| SessionError::Write { path, source }
}

/// Creates the given directory. Rejects one that has files, since the tour edits and adds some.
fn new_directory(dir: &Path) -> Result<&Path, SessionError> {
    OutDir::create(dir).map_err(write_failed(dir))?;
    if fs::read_dir(dir).map_err(write_failed(dir))?.next().is_some() {
        let message = format!("`{}` is not empty", dir.display());
        let help = "pass another directory, or none for a temporary one";
        return Err(SessionError::bad_request("tour/directory", message, Some(help.into())));
    }
    Ok(dir)
}

/// Makes an edit and prints it.
fn apply(ui: &Ui, dir: &Path, edit: &TourEdit) -> Result<(), SessionError> {
    let path = dir.join(edit.file);
    let text = fs::read_to_string(&path).map_err(write_failed(&path))?;
    if !text.contains(edit.from) {
        return Err(unexpected(&format!("{} does not contain the text to edit", edit.file)));
    }
    fs::write(&path, text.replacen(edit.from, edit.to, 1)).map_err(write_failed(&path))?;
    ui.out("");
    ui.out(&TextStyle::Dim.paint(edit.file));
    let (from, to): (Vec<&str>, Vec<&str>) = (edit.from.lines().collect(), edit.to.lines().collect());
    from.iter().filter(|line| !to.contains(line)).for_each(|line| ui.out(&TextStyle::Red.paint(&format!("- {line}"))));
    to.iter().filter(|line| !from.contains(line)).for_each(|line| ui.out(&TextStyle::Green.paint(&format!("+ {line}"))));
    Ok(())
}

/// Waits for Enter. Returns `false` at `q` or the end of input.
fn wants_next(ui: &Ui) -> Result<bool, SessionError> {
    ui.note("Enter runs it, q ends the tour");
    let mut line = String::new();
    let read = ui.environment().input().lock().read_line(&mut line).map_err(write_failed(Path::new("standard input")))?;
    Ok(read > 0 && !line.trim().eq_ignore_ascii_case("q"))
}

/// Runs the command of a step in the directory, isolated from the user's settings, and checks its output.
fn run(ui: &Ui, dir: &Path, step: &TourStep) -> Result<(), SessionError> {
    const SETTINGS: [&str; 4] = ["ASTERISK_STORE", "ASTERISK_SCRIPTS", "ASTERISK_DOMAIN", "ASTERISK_OUT"];
    let environment = ui.environment();
    let mut command = Command::new(environment.program());
    command.args(step.command).current_dir(dir).env_clear();
    command.envs(environment.variables().without(|name| SETTINGS.contains(&name)).iter()).env("XDG_CONFIG_HOME", dir);
    let output = command.output().map_err(write_failed(Path::new("asterisk")))?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().take(MAX_LINES).for_each(|line| ui.out(*line));
    if let Some(more @ 1..) = lines.len().checked_sub(MAX_LINES) {
        ui.out(&TextStyle::Dim.paint(&format!("... {}", counted(more, "more line", "more lines"))));
    }
    let came = match (output.status.success(), text.contains(step.prints)) {
        (true, true) => return Ok(()),
        (true, false) => format!("did not print `{}`", step.prints),
        (false, _) => format!("ended with {}", output.status),
    };
    Err(unexpected(&format!("`asterisk {}` {came}", step.command.join(" "))))
}

fn unexpected(what: &str) -> SessionError {
    let help = "this is a bug or a problem of the environment; `asterisk doctor` checks the latter";
    SessionError::Outside(Box::new(Diagnostic::error("tour/step", what.to_owned()).help(help)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tour_is_short() {
        assert!(STEPS.len() <= 8, "{} commands", STEPS.len());
    }
}
