//! The tables printed by `run` and `status`.

use crate::ui::{Painted, TextStyle, Ui};
use asterisk_diag::counted;
use asterisk_report::{CaseReport, RunReport, confidence};
use asterisk_session::RunResult;
use asterisk_walk::WalkState;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// From this number of cases on, the table lists causes.
const MANY: usize = 60;
/// The maximum number of causes shown; the report has all of them.
const CAUSES: usize = 40;
/// The maximum number of cases shown if nothing was concluded.
const WALKS: usize = 200;
/// Below this width, path and confidence are omitted.
const NARROW: usize = 110;

/// The table of cases (or of causes, if there are many), a line of totals, and the path of the report.
pub(super) fn print(ui: &Ui, report: &RunReport, result: &RunResult) {
    for line in lines(ui, report, result) {
        ui.out(&line);
    }
}

/// The lines that [`print`] prints.
pub(super) fn lines(ui: &Ui, report: &RunReport, result: &RunResult) -> Vec<Painted> {
    if result.plan.policy.is_some() {
        return stages(ui, result);
    }
    let mut lines = Vec::new();
    let concluded = report.cases.iter().any(|case| !case.defect_type.is_empty() || !case.category.is_empty());
    match (concluded, report.cases.len()) {
        (_, 0) => {}
        (true, MANY..) => causes(ui, report, &mut lines),
        (true, _) => findings(ui, report, &mut lines),
        (false, _) => walks(ui, report, &mut lines),
    }
    lines.push(TextStyle::Plain.paint(&totals(report)));
    if report.totals.needs_review > 0 {
        let waiting = counted(report.totals.needs_review, "case needs", "cases need");
        // A run that is not stored does not have a queue.
        let queue = if result.report.is_some() { ": asterisk review --next" } else { "" };
        lines.push(TextStyle::Plain.paint(&format!("{waiting} review{queue}")));
    }
    if let Some(path) = &result.report {
        lines.push(TextStyle::Plain.paint(&format!("report: {}", path.display())));
    }
    lines
}

/// The stages of a policy pipeline, and the location of its files.
fn stages(ui: &Ui, result: &RunResult) -> Vec<Painted> {
    let mut table = ui.table(&["stage", "status", "score", "threshold", "what"]);
    let listed = result.each(|case| {
        let state = &case.state;
        for node in &result.plan.nodes {
            let passed = state.passed.get(&node.name);
            let review = passed.and_then(|passed| passed.review.as_ref()).and_then(|review| review.view());
            let number = |field: &str| {
                let value = review.and_then(|review| review.get(field)?.as_f64());
                value.map_or(String::new(), |value| value.to_string())
            };
            let (status, what) = match (passed, state.failed.get(&node.name)) {
                (Some(_), _) => ("passed", files(state, &node.name)),
                (None, Some(failed)) if failed.kind.is_empty() => ("skipped", failed.message.clone()),
                (None, Some(failed)) => ("failed", format!("{}: {}", failed.reason, failed.message)),
                (None, None) => ("open", String::new()),
            };
            table.row([node.name.to_string(), status.to_owned(), number("score"), number("threshold"), what]);
        }
        Ok(())
    });
    // Read errors have been reported already.
    listed.unwrap_or_default();
    let mut lines = vec![table.text()];
    if let Some(path) = result.report.as_ref().and_then(|report| report.parent()) {
        lines.push(TextStyle::Plain.paint(&format!("files: {}", path.display())));
    }
    lines
}

/// The names of the artifacts of a node.
fn files(state: &WalkState, node: &str) -> String {
    let artifact = state.prior.get(node).and_then(|artifact| artifact.view());
    let list = artifact.and_then(|artifact| artifact.present("artifacts"));
    let names = list.iter().flat_map(|list| list.items()).filter_map(|one| Some(one.get("name")?.as_str()?.to_owned()));
    names.collect::<Vec<_>>().join(", ")
}

fn findings(ui: &Ui, report: &RunReport, lines: &mut Vec<Painted>) {
    let narrow = ui.width() < NARROW;
    let columns: &[&str] = if narrow {
        &["case", "category", "defect", "component", "next steps"]
    } else {
        &["case", "category", "defect", "component", "conf.", "path", "next steps"]
    };
    let mut table = ui.table(columns);
    for case in (0..report.cases.len()).filter_map(|at| report.cases.whole(at)) {
        let finding = &case.finding;
        let mut row = vec![name(case), finding.category.clone(), finding.defect_type.clone(), finding.component.clone()];
        if !narrow {
            row.extend([confidence(finding.confidence), compress(&case.path)]);
        }
        row.push(next(case));
        table.row(row);
    }
    lines.push(table.text());
}

fn causes(ui: &Ui, report: &RunReport, lines: &mut Vec<Painted>) {
    let mut table = ui.table(&["cases", "what happened", "category", "defect", "component", "conf.", "next steps"]);
    for cause in report.causes.iter().take(CAUSES) {
        let finding = &cause.finding;
        table.row([
            cause.cases.len().to_string(),
            clip(&finding.title, 60),
            finding.category.clone(),
            finding.defect_type.clone(),
            finding.component.clone(),
            confidence(finding.confidence),
            finding.next_steps.first().cloned().unwrap_or_default(),
        ]);
    }
    lines.push(table.text());
    if let Some(more @ 1..) = report.causes.len().checked_sub(CAUSES) {
        lines.push(TextStyle::Plain.paint(&format!("and {}, in the report", counted(more, "more cause", "more causes"))));
    }
}

fn walks(ui: &Ui, report: &RunReport, lines: &mut Vec<Painted>) {
    let mut table = ui.table(&["case", "status", "path", "edges"]);
    for case in (0..WALKS).filter_map(|at| report.cases.whole(at)) {
        let edges: Vec<String> = case.turns.iter().map(|turn| turn.edge.clone()).collect();
        let status = case.error.as_ref().map_or_else(|| case.status.word().to_owned(), |error| error.kind.clone());
        table.row([name(case), status, compress(&case.path), compress(&edges)]);
    }
    lines.push(table.text());
    if let Some(more @ 1..) = report.cases.len().checked_sub(WALKS) {
        lines.push(TextStyle::Plain.paint(&format!("and {}, in the report", counted(more, "more case", "more cases"))));
    }
}

fn totals(report: &RunReport) -> String {
    let totals = &report.totals;
    let mut line = counted(totals.cases, "case", "cases");
    if !report.causes.is_empty() {
        let _ = write!(line, ", {}", counted(report.causes.len(), "cause", "causes"));
    }
    let open = totals.cases - totals.done - totals.error;
    if open > 0 {
        let _ = write!(line, ", {open} not finished");
    }
    if totals.error > 0 {
        let _ = write!(line, ", {} failed", totals.error);
    }
    if let Some(found) = report.regression.as_ref().filter(|found| found.launches.len() > 1) {
        let _ = write!(line, " ({} back, {} new)", found.regressions.len(), found.new.len());
    }
    if !report.launch.gaps.is_empty() {
        line.push_str(", of an incomplete launch");
    }
    if !totals.by_defect_type.is_empty() {
        let _ = write!(line, ": {}", by_count(&totals.by_defect_type));
    }
    line
}

fn by_count(counts: &BTreeMap<String, usize>) -> String {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

fn next(case: &CaseReport) -> String {
    match &case.error {
        Some(error) => format!("{} at {}: {}", error.kind, error.node, error.message),
        None => case.finding.next_steps.first().cloned().unwrap_or_default(),
    }
}

fn name(case: &CaseReport) -> String {
    labelled(&case.case, &case.name)
}

/// Id and name; an id that ends with the name, as those of JUnit do, is used alone.
fn labelled(id: &str, name: &str) -> String {
    if id.ends_with(name) { id.to_owned() } else { format!("{id} {}", clip(name, 40)) }
}

/// Joins names; repetitions are counted.
fn compress(names: &[String]) -> String {
    let runs = names.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 | 2 => run.join(" "),
        n => format!("{} x{n}", run[0]),
    });
    runs.collect::<Vec<_>>().join(" ")
}

/// Cuts a text to a number of characters.
fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_one_name_are_counted() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(compress(&names("a b b c c c c a")), "a b b c x4 a");
        assert_eq!(compress(&[]), "");
    }

    #[test]
    fn a_name_within_the_id_is_not_repeated() {
        assert_eq!(labelled("tests.cart::adds", "adds"), "tests.cart::adds");
        assert_eq!(labelled("7", "adds"), "7 adds");
    }

    #[test]
    fn long_names_are_clipped_on_characters() {
        assert_eq!(clip("éééé", 3), "éé…");
        assert_eq!(clip("abc", 3), "abc");
    }
}
