//! `asterisk calibrate truth`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_calibrate::GroundTruth;
use asterisk_diag::counted;
use asterisk_session::SessionError;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Maintain ground truth: the reviewed failures that `calibrate` and `learn` read.
///
/// The ground truth is a scenario in a separate file, with one line per cause and case.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk calibrate truth promote --dry-run\n  asterisk calibrate truth list --format json\n  \
                  asterisk calibrate truth export --verified"
)]
pub(super) struct TruthArgs {
    #[command(subcommand)]
    what: TruthCommand,
}

/// The ground truth file and the output format.
#[derive(Debug, Args)]
struct TruthOptions {
    /// The ground truth file.
    #[arg(long, value_name = "FILE", default_value = "ground-truth.yaml")]
    file: PathBuf,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Debug, Subcommand)]
enum TruthCommand {
    /// List the causes.
    List(TruthOptions),
    /// Show a cause or a case.
    Show {
        /// The id of a cause or a case.
        id: String,
        #[command(flatten)]
        options: TruthOptions,
    },
    /// Add reviewed failures, using the `curation` pipeline.
    Promote {
        /// Add only these cases [default: all reviewed ones].
        case: Vec<String>,
        /// Do not write the file.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        project: ProjectArgs,
        #[command(flatten)]
        options: TruthOptions,
    },
    /// Add the causes and cases of another scenario that are not known yet.
    Import {
        /// The scenario to import, YAML or JSON.
        from: PathBuf,
        #[command(flatten)]
        options: TruthOptions,
    },
    /// Print the scenario as JSON.
    Export {
        /// Print only what reviewers confirmed.
        #[arg(long)]
        verified: bool,
        #[command(flatten)]
        options: TruthOptions,
    },
    /// Report weaknesses of the ground truth; exit with 1 if there are any.
    Health(TruthOptions),
}

impl TruthCommand {
    const fn options(&self) -> &TruthOptions {
        match self {
            Self::List(options)
            | Self::Health(options)
            | Self::Show { options, .. }
            | Self::Promote { options, .. }
            | Self::Import { options, .. }
            | Self::Export { options, .. } => options,
        }
    }
}

pub(super) fn truth(global: &GlobalArgs, args: &TruthArgs) -> Result<Exit, SessionError> {
    let options = args.what.options();
    let ui = &global.ui(options.format);
    let mut truth = GroundTruth::open(&options.file, global.environment.input())?;
    match &args.what {
        TruthCommand::List(_) => list(ui, &truth),
        TruthCommand::Show { id, .. } => return show(ui, &truth, id),
        TruthCommand::Promote { case, dry_run, project, .. } => {
            let promoted = truth.promote(&global.session(project, None)?, case)?;
            if ui.format() == OutputFormat::Json {
                ui.json(&json!({ "schema_version": 1, "file": truth.path(), "promoted": promoted }));
            } else {
                let mut table = ui.table(&["case", "", "why"]);
                for one in &promoted {
                    table.row([&one.case, &one.status, &one.why]);
                }
                if promoted.is_empty() {
                    ui.out("no case has been reviewed yet");
                } else {
                    ui.out(&table.text());
                }
            }
            let taken = promoted.iter().filter(|one| ["verified", "candidate"].contains(&one.status.as_str())).count();
            if taken > 0 && !dry_run {
                truth.save()?;
                ui.note(&format!("{} added to {}", counted(taken, "case", "cases"), truth.path().display()));
            }
        }
        TruthCommand::Import { from, .. } => {
            let (causes, cases) = truth.import(from, global.environment.input())?;
            truth.save()?;
            let (causes, cases) = (counted(causes, "cause", "causes"), counted(cases, "case", "cases"));
            ui.note(&format!("{causes} and {cases} added to {}", truth.path().display()));
        }
        TruthCommand::Export { verified, .. } => ui.json(&truth.json(*verified)),
        TruthCommand::Health(_) => return Ok(health(ui, &truth)),
    }
    Ok(Exit::Ok)
}

fn list(ui: &Ui, truth: &GroundTruth) {
    let of = |cause: &Value| truth.cases.iter().filter(|case| case["rca_id"] == cause["id"]).count();
    if ui.format() == OutputFormat::Json {
        let causes: Vec<Value> = (truth.causes.iter())
            .map(|cause| {
                let mut cause = cause.clone();
                cause["cases"] = json!(of(&cause));
                cause
            })
            .collect();
        return ui.json(&json!({ "schema_version": 1, "file": truth.path(), "cases": truth.cases.len(), "causes": causes }));
    }
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let mut table = ui.table(&["cause", "defect", "title", "cases", "verified"]);
    for cause in &truth.causes {
        let verified = if cause["verified"] == true { "yes" } else { "" };
        table.row([
            text(cause, "id"),
            text(cause, "defect_type"),
            text(cause, "title"),
            of(cause).to_string(),
            verified.to_owned(),
        ]);
    }
    if truth.causes.is_empty() {
        return ui.out(&format!("{} contains no causes yet", truth.path().display()));
    }
    ui.out(&table.text());
    let (causes, cases) = (counted(truth.causes.len(), "cause", "causes"), counted(truth.cases.len(), "case", "cases"));
    ui.out(&format!("\n{causes}, {cases}"));
}

fn show(ui: &Ui, truth: &GroundTruth, id: &str) -> Result<Exit, SessionError> {
    let one = truth.causes.iter().chain(&truth.cases).find(|one| one["id"] == id);
    let Some(one) = one else {
        let known = truth.causes.iter().chain(&truth.cases).filter_map(|one| one["id"].as_str());
        let help = asterisk_diag::did_you_mean(id, known);
        let message = format!("`{}` has neither a cause nor a case `{id}`", truth.path().display());
        return Err(SessionError::bad_request("truth/unknown", message, help));
    };
    let narrative = truth.narrative(id);
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "entry": one, "narrative": narrative }));
    } else {
        let whole = || serde_json::to_string_pretty(one).unwrap_or_default();
        ui.out(&plain(&narrative.unwrap_or_else(whole)));
    }
    Ok(Exit::Ok)
}

fn health(ui: &Ui, truth: &GroundTruth) -> Exit {
    let remarks = truth.health();
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "file": truth.path(), "remarks": remarks }));
    } else if remarks.is_empty() {
        ui.out("nothing to fix");
    } else {
        let mut table = ui.table(&["what", "count", "such as"]);
        for one in &remarks {
            table.row([one.what.clone(), one.count.to_string(), one.examples.join(", ")]);
        }
        ui.out(&table.text());
    }
    if remarks.is_empty() { Exit::Ok } else { Exit::Findings }
}
