//! `asterisk explain`.

use super::{GlobalArgs, ProjectArgs, RunArg};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_base::model::shell;
use asterisk_decisions::{
    CaseList, Explanation, FoundRoot, FoundVerdict, StepQuery, blame, blame_page, explain as explained, markdown, page, prompt,
    root, root_page, save_as_test, verdict, verdict_page,
};
use asterisk_session::{Prompt, SessionError};
use asterisk_walk::EventKind;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;

/// Explain why a case took its path: every edge of every step, its outcome, and how close the others came.
///
/// Each decision is re-evaluated with the recorded sources and inputs. --step shows everything: the values of all
/// parts of every rule that was evaluated.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "Examples:\n  asterisk explain latest\n  asterisk explain latest --case 880501\n  \
                        asterisk explain latest --case 880501 --step F0\n  \
                        asterisk explain latest --case 880501 --verdict\n  \
                        asterisk explain 20260214-212109-ab12cd --case 880501 --with 880502\n  \
                        asterisk explain latest --case 880501 --step F0 --blame\n  \
                        asterisk explain latest --case 880501 --step F5 --prompt\n  \
                        asterisk explain latest --events=transition,walker_switch\n  \
                        asterisk explain latest --case 880501 --step 1 --save-as-test recall_test.rhai")]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    run: RunArg,
    /// The case; by default the only one, or a list of the cases if there are several.
    #[arg(long, value_name = "ID")]
    case: Option<String>,
    /// The step, by its path in the record, or by its node's name or code (all visits).
    #[arg(long, value_name = "PATH")]
    step: Option<String>,
    /// Explain the verdict instead: the defect of the case, the rules and signatures that contributed, by how much, and where
    /// they are defined.
    #[arg(long, group = "view", conflicts_with = "step")]
    verdict: bool,
    /// Explain the verdict, and why it is not this defect, or why this rule did not match.
    #[arg(long, value_name = "CODE|RULE", group = "view", conflicts_with = "step")]
    why_not: Option<String>,
    /// Explain the root instead: what the failure has in common with the others of its cause, and which rule found it.
    #[arg(long, group = "view", conflicts_with = "step")]
    root: bool,
    /// Explain the root, and why this other case has the same cause or a different one.
    #[arg(long, value_name = "ID", group = "view", conflicts_with = "step")]
    with: Option<String>,
    /// Show what decided each step instead: the rule, the line, the version of its source, and in a git checkout the commit. With
    /// --step, show the whole rule.
    #[arg(long, group = "view")]
    blame: bool,
    /// Show the prompt of the step instead, rendered from the recorded template and parameters. For a node with several visits,
    /// it is that of the last one [default step: the last answered one].
    #[arg(long, group = "view")]
    prompt: bool,
    /// Save the decision of the step as a test, with as few of its inputs as needed, in FILE (`.._test.rhai`) [default: next to
    /// the rule that decided].
    #[arg(long, value_name = "FILE", num_args = 0..=1, group = "view")]
    #[expect(clippy::option_option, reason = "the flag may stand alone")]
    save_as_test: Option<Option<PathBuf>>,
    /// Print the recorded events of the run or the case instead, as lines of JSON: all, or those of these types.
    #[arg(long, value_name = "TYPE", num_args = 0.., require_equals = true, value_delimiter = ',', group = "view",
          conflicts_with_all = ["step", "format"], value_parser = PossibleValuesParser::new(EventKind::ALL.map(EventKind::name)),
          hide_possible_values = true)]
    events: Option<Vec<String>>,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: PageFormat,
}

/// The format of printed pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PageFormat {
    /// Text.
    #[default]
    Pretty,
    /// JSON.
    Json,
    /// For pasting into a ticket or a review.
    Markdown,
}

/// Data with its schema version.
#[derive(Serialize)]
struct VersionedData<T> {
    schema_version: u32,
    #[serde(flatten)]
    data: T,
}

pub(super) fn versioned<T: Serialize>(data: T) -> impl Serialize {
    VersionedData { schema_version: 1, data }
}

pub(super) fn explain(global: &GlobalArgs, args: &ExplainArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(if args.format == PageFormat::Json { OutputFormat::Json } else { OutputFormat::Pretty });
    let session = global.session(&ProjectArgs::default(), None)?;
    if let Some(types) = &args.events {
        let record = session.record()?;
        let run = record.run(&args.run.run)?;
        record.event_lines(&run, args.case.as_deref(), types, |line| ui.json_line(line))?;
        return Ok(Exit::Ok);
    }
    let query = StepQuery { run: args.run.run.clone(), case: args.case.clone(), step: args.step.clone() };
    if let Some(file) = &args.save_as_test {
        let saved = save_as_test(&session, &query, file.as_deref())?;
        if args.format == PageFormat::Json {
            ui.json(&versioned(&saved));
        } else {
            ui.out(&plain(&saved.text));
            let scripts =
                saved.scripts.as_ref().map_or(String::new(), |dir| format!(" --scripts {}", shell(&dir.display().to_string())));
            ui.note(&format!(
                "{}; run it with: asterisk test {} --filter {}{scripts}",
                saved.location(),
                shell(&saved.file.display().to_string()),
                shell(&saved.test)
            ));
        }
        return Ok(Exit::Ok);
    }
    if args.verdict || args.why_not.is_some() {
        match verdict(&session, &query, args.why_not.as_deref())? {
            FoundVerdict::Cases(list) => cases(ui, &list, "explain --verdict"),
            FoundVerdict::Case(case) if args.format == PageFormat::Json => ui.json(&versioned(&case)),
            FoundVerdict::Case(case) => ui.page(&verdict_page(&case, ui.width())),
        }
        return Ok(Exit::Ok);
    }
    if args.root || args.with.is_some() {
        match root(&session, &query, args.with.as_deref())? {
            FoundRoot::Cases(list) => cases(ui, &list, "explain --root"),
            FoundRoot::Case(case) if args.format == PageFormat::Json => ui.json(&versioned(&case)),
            FoundRoot::Case(case) => ui.page(&root_page(&case, ui.width())),
        }
        return Ok(Exit::Ok);
    }
    if args.blame {
        match blame(&session, &query)? {
            Err(list) => cases(ui, &list, "explain --blame"),
            Ok(blame) if args.format == PageFormat::Json => ui.json(&versioned(&blame)),
            Ok(blame) => ui.page(&blame_page(&blame, ui.width())),
        }
        return Ok(Exit::Ok);
    }
    if args.prompt {
        match prompt(&session, &query)? {
            Err(list) => cases(ui, &list, "explain --prompt"),
            Ok(prompt) if args.format == PageFormat::Json => ui.json(&versioned(&prompt)),
            Ok(prompt) => print_prompt(ui, &prompt),
        }
        return Ok(Exit::Ok);
    }
    match explained(&session, &query)? {
        Explanation::Cases(list) => cases(ui, &list, "explain"),
        Explanation::Case(case) => match args.format {
            PageFormat::Json => ui.json(&versioned(&case)),
            PageFormat::Markdown => ui.out(&plain(&markdown(&case))),
            PageFormat::Pretty => ui.page(&page(&case, ui.width())),
        },
    }
    Ok(Exit::Ok)
}

fn print_prompt(ui: &Ui, prompt: &Prompt) {
    let Prompt { run, case, node, path, template, .. } = prompt;
    let visit = if prompt.visits > 1 { format!(", visit {} of {}", prompt.visit, prompt.visits) } else { String::new() };
    ui.note(&format!("step {path} ({node}{visit}) of case {case} in run {run}, from {template}"));
    ui.out(plain(&prompt.text.replace('\t', "    ")).trim_end());
}

/// Prints the cases of a run, for the user to name one.
pub(super) fn cases(ui: &Ui, list: &CaseList, command: &str) {
    if ui.format() == OutputFormat::Json {
        return ui.json(&versioned(list));
    }
    let mut table = ui.table(&["case", "status", "edges", "name"]);
    for case in &list.cases {
        let status = serde_json::to_value(case.status).unwrap_or_default();
        let status = status.as_str().unwrap_or_default().to_owned();
        table.row([case.case.clone(), status, case.edges.join(" "), case.name.clone()]);
    }
    ui.out(&table.text());
    let more = list.total.saturating_sub(list.cases.len());
    if more > 0 {
        ui.note(&format!("and {more} more"));
    }
    ui.note(&format!("to select one: asterisk {command} {} --case ID", list.run));
}
