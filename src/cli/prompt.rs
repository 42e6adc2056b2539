//! `asterisk prompt`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::session::{PromptQuery, SessionError};
use crate::ui::{OutputFormat, plain};
use clap::Args;
use serde_json::{Value, json};

/// Show the prompt that a step of a run was given.
///
/// It is rendered again from the journal: the template and the parameters of the step. The default step is the last answered one
/// of the case.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk prompt 880501\n  asterisk prompt 880501 --node F5 --visit 1 --format json")]
pub(super) struct PromptArgs {
    /// The case.
    case: String,
    /// The node, by name or code.
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// The run [default: latest].
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The visit of the node, from 1 [default: the last].
    #[arg(long, value_name = "N", requires = "node")]
    visit: Option<usize>,
    /// The step, by its path in the record, instead of node and visit.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["node", "visit"])]
    step: Option<String>,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn prompt(global: &GlobalArgs, args: &PromptArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let query = PromptQuery {
        run: args.run.clone(),
        case: args.case.clone(),
        node: args.node.clone(),
        visit: args.visit,
        path: args.step.clone(),
    };
    let prompt = global.session(&ProjectArgs::default(), None)?.prompt(&query)?;
    if ui.format() == OutputFormat::Json {
        let mut shown = json!(prompt);
        shown["schema_version"] = Value::from(1);
        ui.json(&shown);
    } else {
        let visit = if prompt.visits > 1 { format!(", visit {} of {}", prompt.visit, prompt.visits) } else { String::new() };
        ui.note(&format!("{} of case {}{visit}, from {} in run {}", prompt.node, prompt.case, prompt.template, prompt.run));
        ui.out(plain(&prompt.text.replace('\t', "    ")).trim_end());
    }
    Ok(Exit::Ok)
}
