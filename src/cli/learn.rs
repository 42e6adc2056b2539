//! `asterisk learn`.

use super::run::print_failed_rules;
use super::{FormatArg, GlobalArgs, PortalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_adapters::reportportal::LaunchFilter;
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_learn::{
    BetterWeights, FittedTerms, FoldReport, FoldsBy, LabelOrigin, LearnReport, LearnSpec, LearnedWeight, VerdictComparison,
    VerdictFigures, WeightOf, learn as fit, learned_file,
};
use asterisk_session::{Session, SessionError};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::PathBuf;

/// The smallest change of a weight that is shown.
const SHOWN: f64 = 0.1;
/// The maximum number of skipped cases listed per reason.
const NAMED: usize = 5;

/// Fit the weights of a verdict to labelled failures, and report whether that helps on held-out failures.
///
/// Labels come from files, from reviews (`store`), and from the defect types set in `reportportal`. Weights are regularised towards their
/// hand-set values, so that few labels change them little. They are only written if they are significantly better on held-out failures;
/// otherwise the exit code is 1.
#[derive(Debug, Args)]
#[command(
    after_help = "A file is JSON or YAML: a list of cases, or `cases:`. A case has an `id`, a `defect` (or `label`), and its texts: in\n\
                  `failure: {name, suite, error_message, log_snippet}`, in the launch that `launch:` names (its first failure, or that\n\
                  of `case:`), or in a launch DIR/ID.*; `project` says which cases belong together, `decidable` whether the text suffices,\n\
                  `date` when it was labelled, `weight` how much it counts. Nothing is written without --out; the weights in use are\n\
                  those of data/learned.yaml below the directory of scripts.\n\n\
                  Examples:\n  asterisk learn --from labelled.yaml --audit\n  \
                  asterisk learn --from labels.json --launches launches --out scripts/data/learned.yaml --force"
)]
pub(super) struct LearnArgs {
    /// Where to read labels: a file (`-` for standard input), `store`, or `reportportal`; may be repeated.
    #[arg(long, value_name = "FILE|store|reportportal", required = true)]
    from: Vec<String>,
    /// A directory with one launch per case of a label file, named by the case's id.
    #[arg(long, value_name = "DIR")]
    launches: Option<PathBuf>,
    /// For `reportportal`: a launch, by number or UUID; may be repeated.
    #[arg(long, value_name = "ID")]
    launch: Vec<String>,
    /// For `reportportal`: the number of latest launches to read.
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with = "launch")]
    past: usize,
    /// For `reportportal`: only read latest launches with this name.
    #[arg(long, value_name = "NAME", conflicts_with = "launch")]
    name: Option<String>,
    /// How strongly weights are regularised towards their hand-set values [default: `hold` of data/learn.yaml].
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    lambda: Option<f64>,
    /// The age, in days, at which a label counts half as much as the latest one [default: `half_life_days` of data/learn.yaml].
    #[arg(long, value_name = "DAYS", value_parser = positive)]
    half_life: Option<f64>,
    /// The number of cross-validation folds.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,
    /// The unit that is held out as a whole.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: FoldsByArg,
    /// Also learn weights for further words of the evidence.
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "with-rules"
    )]
    terms: Option<TermsArg>,
    /// Show which cases each rule and signature decides, and which rules serve only one project or cause.
    #[arg(long)]
    audit: bool,
    /// Write the fitted weights to a data file if they are better on held-out failures.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the weights even if they are not better.
    #[arg(long, requires = "out")]
    force: bool,
    /// The pipeline whose verdict to fit [default: rca].
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
    #[command(flatten)]
    portal: PortalArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

/// How cases are assigned to folds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FoldsByArg {
    /// By project; with a single one, by launch.
    #[default]
    Auto,
    /// By project.
    Project,
    /// By launch.
    Launch,
    /// By time: train on earlier cases, test on later ones.
    Time,
}

/// How words are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TermsArg {
    /// With the rules.
    WithRules,
    /// Without the rules, which keep their weights, so that a word weighs the same regardless of what else matches: the content
    /// of data/terms.yaml.
    Alone,
}

impl TermsArg {
    const fn fitted(self) -> FittedTerms {
        match self {
            Self::WithRules => FittedTerms::WithRules,
            Self::Alone => FittedTerms::Alone,
        }
    }
}

impl FoldsByArg {
    const fn folds_by(self) -> FoldsBy {
        match self {
            Self::Auto => FoldsBy::Auto,
            Self::Project => FoldsBy::Project,
            Self::Launch => FoldsBy::Launch,
            Self::Time => FoldsBy::Time,
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "not a number above 0".to_owned())
}

pub(super) fn learn(global: &GlobalArgs, args: &LearnArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let mut setup = global.resolve(&args.project, None)?.setup;
    args.portal.override_settings(&mut setup.reportportal);
    let session = Session::new(setup);
    let spec = LearnSpec {
        from: args.from.iter().map(|from| LabelOrigin::parse(from)).collect(),
        launches: args.launches.clone(),
        portal: LaunchFilter { ids: args.launch.clone(), name: args.name.clone(), most: args.past },
        lambda: args.lambda,
        half_life_days: args.half_life,
        folds: usize::from(args.folds),
        by: args.by.folds_by(),
        terms: args.terms.map_or_else(FittedTerms::default, TermsArg::fitted),
        audit: args.audit,
        pipeline: args.pipeline.clone(),
    };
    let report = fit(&session, &spec)?;
    let refused = args.out.is_some() && !args.force && !report.is_better();
    if ui.format() == OutputFormat::Json {
        let mut value = json!(report);
        value["schema_version"] = json!(1);
        value["better"] = json!(report.is_better());
        value["written_to"] = json!(args.out.as_ref().filter(|_| !refused));
        ui.json(&value);
    } else {
        print(ui, &report);
    }
    print_failed_rules(ui, &report.failed_rules);
    let Some(path) = &args.out else { return Ok(Exit::Ok) };
    if refused {
        let why = match &report.folds {
            Some(folds) => {
                format!("on held-out failures the fitted weights are not better beyond noise{}", labels_needed(&folds.comparison))
            }
            None => "no case was held out, so it is unknown whether the fitted weights are better".to_owned(),
        };
        ui.note(&format!("`{}` is not written: {why}; --force writes it anyway", path.display()));
        return Ok(Exit::Findings);
    }
    let failed = |error| {
        let message = format!("cannot write `{}`: {error}", path.display());
        SessionError::BadRequest(Box::new(Diagnostic::error("output/file", message).help("--out names another file")))
    };
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(&failed)?;
    }
    std::fs::write(path, learned_file(&report)).map_err(failed)?;
    ui.note(&format!("fitted weights: {}", path.display()));
    Ok(Exit::Ok)
}

/// Says how many more labels would make the comparison conclusive.
fn labels_needed(comparison: &VerdictComparison) -> String {
    let labels = |more| format!(" (about {} like these would decide)", counted(more, "more label", "more labels"));
    comparison.more_labels.map_or_else(String::new, labels)
}

fn print(ui: &Ui, report: &LearnReport) {
    let labels: Vec<String> = report.labels.iter().map(|(defect, cases)| format!("{cases} {defect}")).collect();
    let cases = counted(report.written, "case", "cases");
    ui.out(&format!("{}: fitted to {} of {cases} ({})", report.pipeline, report.cases, labels.join(", ")));
    for from in report.from.iter().filter(|_| report.from.len() > 1) {
        ui.out(&format!("from {}: {} of {}, counted as {}", from.from, from.cases, from.written, from.weight));
    }
    for out in &report.left_out {
        let named: Vec<&str> = out.cases.iter().take(NAMED).map(String::as_str).collect();
        let more = if out.cases.len() > NAMED { ", ..." } else { "" };
        ui.out(&format!("skipped {}: {} ({}{more})", out.cases.len(), out.why, named.join(", ")));
    }
    match &report.folds {
        Some(folds) => print_folds(ui, folds, report.terms_alone),
        None => ui.out("\nall cases are in one fold, so it is unknown how good the fitted weights are on others"),
    }
    if let Some(temperature) = report.temperature {
        ui.out(&format!("The fitted log-odds are divided by {temperature}: this improves the held-out probabilities."));
    }
    if let Some(bar) = &report.review_bar {
        let cases = counted(bar.verdicts, "held-out verdict", "held-out verdicts");
        let right = 100.0 * bar.right;
        ui.out(&format!(
            "At {} or more, {right:.0} % of {cases} were right: --set review_bar={}",
            bar.confidence, bar.confidence
        ));
    }
    print_weights(ui, report);
    print_audit(ui, report);
}

/// Prints the rules to review: those that harm more than they help, and those that serve only one project or cause.
fn print_audit(ui: &Ui, report: &LearnReport) {
    if report.audit.is_empty() {
        return;
    }
    let mut table =
        ui.table(&["left out alone", "counted", "agrees", "helps", "harms", "groups", "serves one alone", "written at"]);
    for rule in &report.audit {
        let of = |number: usize| number.to_string();
        table.row([
            if rule.name.is_empty() { rule.id.clone() } else { format!("{} {}", rule.id, rule.name) },
            of(rule.counted),
            of(rule.agrees),
            of(rule.helps),
            of(rule.harms),
            of(rule.groups),
            rule.serves_one.clone(),
            rule.at.clone(),
        ]);
    }
    ui.out("");
    ui.out(&table.text());
    let one = report.audit.iter().filter(|rule| !rule.serves_one.is_empty()).count();
    let silent = report.never_spoke.len();
    ui.out(&format!("\n{one} of {} that matched serve only one group; {silent} matched no case", report.audit.len()));
}

fn print_folds(ui: &Ui, folds: &FoldReport, words_alone: bool) {
    let (cases, decidable) = (folds.hand_set.cases, folds.hand_set.decidable);
    let of = [&folds.hand_set, &folds.hand_set_tempered, &folds.fitted, &folds.fitted_tempered];
    let (before, now) = if words_alone { ("without words", "with words") } else { ("hand-set", "fitted") };
    let mut table = ui.table(&["held out", before, "tempered", now, "tempered"]);
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
    let (by, groups) = match folds.by {
        FoldsBy::Auto | FoldsBy::Project => ("project", counted(folds.groups, "project", "projects")),
        FoldsBy::Launch => ("launch", counted(folds.groups, "launch", "launches")),
        FoldsBy::Time => ("time", counted(folds.groups, "launch", "launches")),
    };
    let folds_of = counted(folds.folds, "fold", "folds");
    ui.out(&format!(
        "\n{folds_of} by {by}, {groups}; temperatures {:.2} and {:.2} fit best (above the current {:.2}: overconfident)",
        folds.hand_set_temperature, folds.fitted_temperature, folds.declared_temperature
    ));
    ui.out(&better(&folds.comparison));
    ui.out("If the weights were set by hand on these cases, none was held out then, and the hand-set figures are too good.");
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
         of the decidable, {won} turn right and {lost} wrong{}",
        labels_needed(comparison)
    )
}

fn print_weights(ui: &Ui, report: &LearnReport) {
    let declared = report.weights.iter().filter(|weight| weight.of != WeightOf::Term).count();
    let mut moved: Vec<&LearnedWeight> = report.weights.iter().filter(|weight| weight.moved() > SHOWN).collect();
    // Stable: of equals the one declared first is first.
    moved.sort_by(|a, b| b.moved().total_cmp(&a.moved()));
    if !moved.is_empty() {
        let mut table = ui.table(&["weight", "defect", "hand-set -> fitted", "90 %", "cases", "by 1", "because", "written at"]);
        for weight in &moved {
            let name = match weight.of {
                WeightOf::Prior => "prior".to_owned(),
                WeightOf::Term => format!("term {}", weight.id),
                _ if weight.name.is_empty() => weight.id.clone(),
                _ => format!("{} {}", weight.id, weight.name),
            };
            table.row([
                name,
                weight.defect.clone(),
                format!("{:+.2} -> {:+.2}", weight.hand_set, weight.fitted),
                format!("+-{:.2}", weight.give_or_take),
                weight.cases.to_string(),
                weight.labels_to_move.to_string(),
                weight.because.join(", "),
                weight.at.clone(),
            ]);
        }
        ui.out("");
        ui.out(&table.text());
    }
    if report.terms_alone {
        ui.out("\nThe weights of rules, signatures and priors stay as they are.");
        return;
    }
    let spoke = counted(declared, "weight", "weights");
    let moved_of = moved.iter().filter(|weight| weight.of != WeightOf::Term).count();
    ui.out(&format!(
        "\n{moved_of} of {spoke} that spoke move by more than {SHOWN}; {} spoke in no case and stay; `by 1`: about how many labels that \
         agree would move the weight by 1",
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
        let comparison = VerdictComparison {
            better: BetterWeights::Unclear,
            log_loss: -0.01,
            interval: [-0.03, 0.01],
            won: 1,
            lost: 2,
            more_labels: Some(7),
        };
        let said = "On the folds neither is clearly better: fitting changes the log loss by -0.010 (90 % interval -0.030 to \
                    +0.010); of the decidable, 1 turn right and 2 wrong (about 7 more labels like these would decide)";
        assert_eq!(better(&comparison), said);
    }
}
