//! `asterisk learn`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::learn::{
    BetterWeights, FoldReport, LearnReport, LearnSpec, LearnedWeight, VerdictComparison, VerdictFigures, WeightOf, learn as fit,
    learned_file,
};
use crate::model::counted;
use crate::session::SessionError;
use crate::ui::{OutputFormat, Ui};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// The least move of a weight that is shown.
const SHOWN: f64 = 0.1;
/// The most ids of left out cases that are named for a reason.
const NAMED: usize = 5;

/// Fit the weights of a verdict to labelled failures, and tell whether that helps on failures it was not fitted to.
#[derive(Debug, Args)]
#[command(
    after_help = "The file is JSON or YAML: a list of cases, or `cases:`. A case has an `id`, a `defect` (or `label`), and its texts: in\n\
                  `failure: {name, suite, error_message, log_snippet}`, in the launch that `launch:` names (its first failure, or that\n\
                  of `case:`), or in a launch DIR/ID.*; `project` says which cases belong together, `decidable` whether the text suffices.\n\
                  Nothing is written without --out; data/learned.yaml below the directory of scripts is in force.\n\n\
                  Examples:\n  asterisk learn --from labelled.yaml\n  \
                  asterisk learn --from labels.json --launches launches --out scripts/data/learned.yaml"
)]
pub(super) struct LearnArgs {
    /// The labelled cases; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// A directory with a launch per case, each named by the case's id.
    #[arg(long, value_name = "DIR")]
    launches: Option<PathBuf>,
    /// How firmly weights are held to where they were set by hand.
    #[arg(long, value_name = "NUMBER", default_value_t = 4.0, value_parser = positive)]
    lambda: f64,
    /// The number of parts that projects are divided into, each measured by weights fitted to the others.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,
    /// Write the fitted weights to a data file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The pipeline whose verdict to fit [default: rca].
    #[arg(value_name = "PIPELINE")]
    pipeline: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "not a number above 0".to_owned())
}

pub(super) fn learn(global: &GlobalArgs, args: &LearnArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let session = global.session(&args.project, None)?;
    let spec = LearnSpec {
        from: args.from.clone(),
        launches: args.launches.clone(),
        lambda: args.lambda,
        folds: usize::from(args.folds),
        pipeline: args.pipeline.clone(),
    };
    let report = fit(&session, &spec)?;
    if ui.format() == OutputFormat::Json {
        let mut value = json!(report);
        value["schema_version"] = json!(1);
        ui.json(&value);
    } else {
        print(ui, &report);
    }
    for (rule, cases) in &report.failed {
        ui.note(&format!("{rule} failed in {} and counts as silent there", counted(*cases, "case", "cases")));
    }
    if let Some(path) = &args.out {
        let failed = |error| {
            let message = format!("cannot write `{}`: {error}", path.display());
            SessionError::BadRequest(Box::new(Diagnostic::error("output/file", message).help("--out names another file")))
        };
        std::fs::write(path, learned_file(&report)).map_err(failed)?;
        ui.note(&format!("fitted weights: {}", path.display()));
    }
    Ok(Exit::Ok)
}

fn print(ui: Ui, report: &LearnReport) {
    let labels: Vec<String> = report.labels.iter().map(|(defect, cases)| format!("{cases} {defect}")).collect();
    let cases = counted(report.written, "case", "cases");
    ui.out(&format!("{}: fitted to {} of {cases} ({})", report.pipeline, report.cases, labels.join(", ")));
    for out in &report.left_out {
        let named: Vec<&str> = out.cases.iter().take(NAMED).map(String::as_str).collect();
        let more = if out.cases.len() > NAMED { ", ..." } else { "" };
        ui.out(&format!("left out {}: {} ({}{more})", out.cases.len(), out.why, named.join(", ")));
    }
    match &report.folds {
        Some(folds) => print_folds(ui, folds),
        None => ui.out("\nall cases are in one fold, so nothing tells how good the fitted weights are on others"),
    }
    print_weights(ui, report);
}

fn print_folds(ui: Ui, folds: &FoldReport) {
    let (cases, decidable) = (folds.hand_set.cases, folds.hand_set.decidable);
    let of = [&folds.hand_set, &folds.hand_set_tempered, &folds.fitted, &folds.fitted_tempered];
    let mut table = ui.table(&["held out", "hand-set", "tempered", "fitted", "tempered"]);
    let mut row = |name: String, figure: &dyn Fn(&VerdictFigures) -> String| {
        table.row(std::iter::once(name).chain(of.iter().map(|figures| figure(figures))));
    };
    let some = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.3}"));
    row(format!("right, of {decidable} decidable"), &|of| format!("{:.3}", of.right));
    row("mean recall per defect".into(), &|of| format!("{:.3}", of.mean_recall));
    row(format!("log loss, of {cases}"), &|of| format!("{:.3}", of.log_loss));
    row("Brier score".into(), &|of| format!("{:.3}", of.brier));
    row("AUC".into(), &|of| some(of.auc));
    row("confidence minus accuracy".into(), &|of| format!("{:+.3}", of.overconfidence));
    row("decided".into(), &|of| format!("{:.3}", of.committed));
    row("right, of the decided".into(), &|of| some(of.committed_right));
    ui.out("");
    ui.out(&table.text());
    let (folds_of, projects) = (counted(folds.folds, "fold", "folds"), counted(folds.projects, "project", "projects"));
    ui.out(&format!(
        "\n{folds_of} by project, {projects}; temperatures {:.2} and {:.2} (above 1: too sure)",
        folds.hand_set_temperature, folds.fitted_temperature
    ));
    ui.out(&better(&folds.comparison));
    ui.out("Whoever set weights by hand with these cases in view held out none of them: hand-set figures then flatter.");
}

/// Says which weights are better on the folds.
fn better(comparison: &VerdictComparison) -> String {
    let said = match comparison.better {
        BetterWeights::Fitted => "the fitted weights are better",
        BetterWeights::HandSet => "the hand-set weights are better",
        BetterWeights::Unclear => "neither is clearly better",
    };
    let VerdictComparison { log_loss, interval: [least, most], won, lost, .. } = comparison;
    format!(
        "On the folds {said}: fitting changes the log loss by {log_loss:+.3} (90 % interval {least:+.3} to {most:+.3}); \
         of the decidable, {won} turn right and {lost} wrong",
    )
}

fn print_weights(ui: Ui, report: &LearnReport) {
    let mut moved: Vec<&LearnedWeight> = report.weights.iter().filter(|weight| weight.moved() > SHOWN).collect();
    // Stable: of equals the one declared first is first.
    moved.sort_by(|a, b| b.moved().total_cmp(&a.moved()));
    if !moved.is_empty() {
        let mut table = ui.table(&["weight", "defect", "hand-set -> fitted", "90 %", "cases", "written at"]);
        for weight in &moved {
            let name = match weight.of {
                WeightOf::Prior => "prior".to_owned(),
                _ if weight.name.is_empty() => weight.id.clone(),
                _ => format!("{} {}", weight.id, weight.name),
            };
            table.row([
                name,
                weight.defect.clone(),
                format!("{:+.2} -> {:+.2}", weight.hand_set, weight.fitted),
                format!("+-{:.2}", weight.give_or_take),
                weight.cases.to_string(),
                weight.at.clone(),
            ]);
        }
        ui.out("");
        ui.out(&table.text());
    }
    let spoke = counted(report.weights.len(), "weight", "weights");
    ui.out(&format!(
        "\n{} of {spoke} that spoke move by more than {SHOWN}; {} spoke in no case and stay",
        moved.len(),
        report.silent
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambda_is_above_0() {
        assert_eq!(positive("0.5"), Ok(0.5));
        assert!(["0", "-1", "NaN", "inf", "x"].iter().all(|text| positive(text).is_err()));
    }

    #[test]
    fn it_is_said_which_is_better() {
        let comparison =
            VerdictComparison { better: BetterWeights::Unclear, log_loss: -0.01, interval: [-0.03, 0.01], won: 1, lost: 2 };
        let said = "On the folds neither is clearly better: fitting changes the log loss by -0.010 (90 % interval -0.030 to \
                    +0.010); of the decidable, 1 turn right and 2 wrong";
        assert_eq!(better(&comparison), said);
    }
}
