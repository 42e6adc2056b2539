//! `asterisk diff`.

use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_diag::counted;
use asterisk_report::{CaseDiff, DiffedCase, RunDiff};
use asterisk_session::SessionError;
use clap::Args;
use serde_json::json;

/// The maximum number of cases printed.
const SHOWN: usize = 100;

/// Compare two runs case by case: verdict, cause, component and path.
///
/// Cases are the same if their suite and test have the same names. The exit code is 1 if the verdict of any case differs.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk diff 20260214-212109-ab12cd latest\n  asterisk diff 20260214-212109-ab12cd latest --format json"
)]
pub(super) struct DiffArgs {
    /// The run to compare with.
    before: String,
    /// The run to compare, or `latest`.
    #[arg(default_value = "latest")]
    after: String,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn diff(global: &GlobalArgs, args: &DiffArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let session = global.session(&ProjectArgs::default(), None)?;
    let diff = RunDiff::of(&session.result(&args.before)?, &session.result(&args.after)?)?;
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({
            "schema_version": 1, "before": diff.before, "after": diff.after, "same": diff.same, "changed": diff.changed,
            "gone": diff.gone, "new": diff.new,
        })),
        OutputFormat::Pretty => print(ui, &diff),
    }
    let flipped = diff.changed.iter().any(|case| case.before.defect != case.after.defect);
    Ok(if flipped { Exit::Findings } else { Exit::Ok })
}

fn print(ui: &Ui, diff: &RunDiff) {
    if !diff.changed.is_empty() {
        let mut table = ui.table(&["case", "verdict", "confidence", "component", "path", "name"]);
        for CaseDiff { before, after, .. } in diff.changed.iter().take(SHOWN) {
            table.row([
                after.case.clone(),
                arrow(&before.defect, &after.defect),
                arrow(&confidence(before), &confidence(after)),
                arrow(&before.component, &after.component),
                arrow(&before.path.join(" "), &after.path.join(" ")),
                plain(&after.name),
            ]);
        }
        ui.out(&table.text());
        if diff.changed.len() > SHOWN {
            ui.out(&format!("and {} more; --format json lists all", diff.changed.len() - SHOWN));
        }
        ui.out("");
    }
    let alone = |cases: &[DiffedCase], run: &str| {
        if !cases.is_empty() {
            let ids: Vec<&str> = cases.iter().take(SHOWN).map(|case| case.case.as_str()).collect();
            ui.out(&format!("only in {run}: {} ({})", counted(cases.len(), "case", "cases"), ids.join(", ")));
        }
    };
    alone(&diff.gone, &diff.before);
    alone(&diff.new, &diff.after);
    let of = |part: &str| diff.changed.iter().filter(|case| case.differs.contains(&part)).count();
    let parts: Vec<String> = ["defect", "cause", "component", "confidence", "path", "status"]
        .into_iter()
        .filter(|part| of(part) > 0)
        .map(|part| format!("{part} {}", of(part)))
        .collect();
    let said = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    ui.out(&format!("{} the same, {} changed{said}", counted(diff.same, "case", "cases"), diff.changed.len()));
}

fn confidence(case: &DiffedCase) -> String {
    case.confidence.map_or_else(|| "n/a".to_owned(), |confidence| format!("{confidence:.2}"))
}

/// `a -> b`, or one of them where both are the same.
fn arrow(before: &str, after: &str) -> String {
    let word = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    if before == after { word(after) } else { format!("{} -> {}", word(before), word(after)) }
}
