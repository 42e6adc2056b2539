//! What `run`, `ci` and `status` print: the causes, the cases on demand, and what to do next.

use crate::ui::{Painted, TextStyle, Ui, unbroken, wrapped};
use asterisk_diag::counted;
use asterisk_report::{CaseBrief, CaseFinding, CaseReport, Cause, RunReport, confidence};
use asterisk_session::RunResult;
use asterisk_walk::WalkStatus;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// The maximum number of causes, and of cases without one, shown; the report has all of them.
const ENTRIES: usize = 20;
/// The maximum number of cases listed.
const CASES: usize = 200;
/// The maximum length of a title, in characters.
const TITLE: usize = 300;
/// The indentation of what belongs to a headline.
const INDENT: usize = 4;

/// What is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScreenParts {
    /// Whether the cases are listed below the causes.
    pub(super) cases: bool,
    /// Whether the launch is the bundled example, since no other was given.
    pub(super) example: bool,
}

/// Prints the causes, a line of totals, the path of the report, and what to do.
pub(super) fn print(ui: &Ui, report: &RunReport, result: &RunResult, parts: ScreenParts) {
    for line in lines(ui, report, result, parts) {
        ui.out(&line);
    }
}

/// The lines that [`print`] prints.
pub(super) fn lines(ui: &Ui, report: &RunReport, result: &RunResult, parts: ScreenParts) -> Vec<Painted> {
    if result.plan.policy.is_some() {
        return stages(ui, result);
    }
    let mut lines = Vec::new();
    if parts.example {
        let text = "This is the bundled example. To analyse your own tests: asterisk run --input junit.xml";
        lines.push(TextStyle::Dim.paint(&wrapped(text, ui.width(), "", 0)));
        lines.push(Painted::default());
    }
    let concluded = report.cases.iter().any(|case| !case.defect_type.is_empty() || !case.category.is_empty());
    if concluded {
        entries(ui, report, &mut lines);
        if parts.cases {
            cases(ui, report, &mut lines);
        }
    } else if !report.cases.is_empty() {
        walks(ui, report, &mut lines);
    }
    lines.push(TextStyle::Plain.paint(&totals(report)));
    let waiting = counted(report.totals.needs_review, "case needs review", "cases need review");
    // A run that is not stored does not have a queue.
    let can_review = report.totals.needs_review > 0 && result.report.is_some() && !ui.is_in_job();
    if report.totals.needs_review > 0 && !can_review {
        lines.push(TextStyle::Plain.paint(&waiting));
    }
    if let Some(path) = &result.report {
        lines.push(TextStyle::Plain.paint(&format!("report: {}", path.with_file_name("report.html").display())));
    }
    if can_review {
        lines.push(TextStyle::Plain.paint(&format!("{waiting}: asterisk review --next")));
    }
    lines
}

/// The stages of a policy pipeline, and the location of its files.
fn stages(ui: &Ui, result: &RunResult) -> Vec<Painted> {
    let mut table = ui.table(&["stage", "status", "score", "threshold", "what"]);
    let listed = result.each(|case| {
        for stage in case.stages(&result.plan) {
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let what = match stage.status {
                "failed" => format!("{}: {}", stage.reason, stage.message),
                "skipped" => stage.message,
                _ => stage.artifacts.join(", "),
            };
            table.row([stage.stage, stage.status.to_owned(), number(stage.score), number(stage.threshold), what]);
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

/// The causes, most failures first, then the cases that belong to none: those that failed or are not finished.
fn entries(ui: &Ui, report: &RunReport, lines: &mut Vec<Painted>) {
    let places: HashMap<&str, usize> = report.cases.iter().enumerate().map(|(at, case)| (&*case.case, at)).collect();
    for cause in report.causes.iter().take(ENTRIES) {
        let speaker = places.get(cause.speaker.as_str()).and_then(|at| report.cases.get(*at));
        cause_entry(ui, cause, speaker, lines);
    }
    more(report.causes.len(), ENTRIES, ["more cause", "more causes"], lines);
    let alone = || report.cases.iter().enumerate().filter(|(_, case)| case.cause.is_empty());
    for (case, whole) in alone().take(ENTRIES).filter_map(|(at, case)| Some((case, report.cases.whole(at)?))) {
        lone_entry(ui, case, whole, lines);
    }
    more(alone().count(), ENTRIES, ["more case without a cause", "more cases without a cause"], lines);
}

fn cause_entry(ui: &Ui, cause: &Cause, speaker: Option<&CaseBrief>, lines: &mut Vec<Painted>) {
    let finding = &cause.finding;
    let mut facts = vec![counted(cause.cases.len(), "failure", "failures")];
    let only = speaker.filter(|_| cause.cases.len() == 1);
    facts.extend(only.map(|case| format!("case {}", labelled(&case.case, &case.name))));
    facts.extend(verdict(finding));
    facts.push(owners(finding));
    facts.extend(cause.follows.map(|leader| format!("follows from cause {leader}")));
    if !finding.needs_review.is_empty() {
        facts.push("needs review".into());
    }
    let names = [speaker.map_or("", |case| &case.name), speaker.map_or("", |case| &case.case)];
    let title = if finding.title.is_empty() { names[0] } else { &finding.title };
    entry(ui, &format!("{}. ", cause.number), title, &facts, finding, &names, lines);
}

fn lone_entry(ui: &Ui, case: &CaseBrief, whole: &CaseReport, lines: &mut Vec<Painted>) {
    let finding = &whole.finding;
    let mut facts = match (&whole.error, whole.status) {
        (Some(error), _) if error.node.is_empty() => vec![format!("not analysed: {}: {}", error.kind, error.message)],
        (Some(error), _) => vec![format!("not analysed: {} at {}: {}", error.kind, error.node, error.message)],
        (None, WalkStatus::Done) => verdict(finding).into_iter().chain([owners(finding)]).collect(),
        (None, status) => vec![status.word().to_owned()],
    };
    if !finding.title.is_empty() {
        facts.insert(0, finding.title.clone());
    }
    entry(ui, "-  ", &labelled(&case.case, &case.name), &facts, finding, &[&case.name, &case.case], lines);
}

/// Whose defect it is, by the words of the taxonomy, and how probable that is.
fn verdict(finding: &CaseFinding) -> [String; 2] {
    let defect = match (finding.defect_name.as_str(), finding.defect_type.as_str()) {
        ("", code) => code.to_owned(),
        (name, code) => format!("{name} ({code})"),
    };
    [defect, finding.confidence.map_or("no confidence".into(), |value| format!("confidence {}", confidence(Some(value))))]
}

/// The component, and who owns it.
fn owners(finding: &CaseFinding) -> String {
    match (finding.component.as_str(), finding.owners.join(" ")) {
        (component, owners) if owners.is_empty() => component.to_owned(),
        ("", owners) => format!("owner {owners}"),
        (component, owners) => format!("{component}, owner {owners}"),
    }
}

/// A headline; the facts and the location; the first of the next steps. Lines never end within a name, a fact or a path.
fn entry(ui: &Ui, mark: &str, title: &str, facts: &[String], finding: &CaseFinding, names: &[&str], lines: &mut Vec<Painted>) {
    let place = finding.location.as_ref().map(|at| match at.line {
        0 => at.path.clone(),
        line => format!("{}:{line}", at.path),
    });
    let whole = |text: &str| {
        let own = place.as_deref().into_iter().chain(names.iter().copied());
        unbroken(&text.split_whitespace().collect::<Vec<_>>().join(" "), own)
    };
    let indent = " ".repeat(INDENT);
    let under = |text: &str| wrapped(text, ui.width(), &indent, INDENT);
    lines.push(TextStyle::Bold.paint(&wrapped(&whole(&clip(title, TITLE)), ui.width(), &format!("{mark:<INDENT$}"), INDENT)));
    let at = place.as_ref().map(|place| format!("at {place}"));
    let facts: Vec<String> = facts.iter().chain(&at).filter(|fact| !fact.is_empty()).map(|fact| short_fact(fact)).collect();
    lines.push(TextStyle::Plain.paint(&under(&facts.join(", "))));
    if let Some(step) = finding.next_steps.first() {
        lines.push(TextStyle::Plain.paint(&under(&whole(&format!("next: {step}")))));
    }
    lines.push(Painted::default());
}

/// A fact that stays on one line, unless it is a sentence.
fn short_fact(fact: &str) -> String {
    if fact.chars().count() <= 60 || !fact.contains(": ") { unbroken(fact, [fact]) } else { fact.to_owned() }
}

/// The cases, in the order of the launch.
fn cases(ui: &Ui, report: &RunReport, lines: &mut Vec<Painted>) {
    let causes: HashMap<&str, usize> =
        report.causes.iter().flat_map(|cause| cause.cases.iter().map(|case| (case.as_str(), cause.number))).collect();
    for (at, case) in report.cases.iter().take(CASES).enumerate() {
        let cause = causes.get(&*case.case).map_or("no cause".to_owned(), |cause| format!("cause {cause}"));
        let path = compress(&case.path);
        let defect = if case.defect_name.is_empty() { &case.defect_type } else { &case.defect_name };
        let loops = report.cases.whole(at).map_or_else(String::new, |whole| case_loops(whole.loops.iter()));
        let facts = [&cause, &*case.category, defect, &confidence(case.confidence), &*case.component, &path, &loops];
        let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).map(|fact| unbroken(fact, [fact])).collect();
        let name = labelled(&case.case, &case.name);
        lines.push(TextStyle::Plain.paint(&wrapped(&unbroken(&name, [&*name]), ui.width(), "", INDENT)));
        lines.push(TextStyle::Dim.paint(&wrapped(&facts.join(", "), ui.width(), &" ".repeat(INDENT), INDENT)));
    }
    more(report.cases.len(), CASES, ["more case", "more cases"], lines);
    lines.push(Painted::default());
}

/// The counters of a case: `2 loops of investigate, 1 of remand`.
fn case_loops<'a>(loops: impl Iterator<Item = (&'a String, &'a i64)>) -> String {
    let said = loops.enumerate().map(|(at, (name, count))| match (at, *count) {
        (0, 1) => format!("1 loop of {name}"),
        (0, count) => format!("{count} loops of {name}"),
        (_, count) => format!("{count} of {name}"),
    });
    said.collect::<Vec<_>>().join(", ")
}

/// Says how many are not shown.
fn more(all: usize, shown: usize, [one, several]: [&str; 2], lines: &mut Vec<Painted>) {
    if let Some(rest @ 1..) = all.checked_sub(shown) {
        lines.push(TextStyle::Plain.paint(&format!("and {}, in the report", counted(rest, one, several))));
    }
}

fn walks(ui: &Ui, report: &RunReport, lines: &mut Vec<Painted>) {
    let shown: Vec<_> = (0..CASES).filter_map(|at| report.cases.whole(at)).collect();
    let looped = shown.iter().any(|case| !case.loops.is_empty());
    let titles = ["case", "status", "path", "edges", "loops"];
    let mut table = ui.table(if looped { &titles } else { &titles[..4] });
    for case in &shown {
        let edges: Vec<String> = case.turns.iter().map(|turn| turn.edge.clone()).collect();
        let status = case.error.as_ref().map_or_else(|| case.status.word().to_owned(), |error| error.kind.clone());
        let mut row = vec![name(case), status, compress(&case.path), compress(&edges)];
        let loops = case.loops.iter().map(|(name, count)| format!("{name} {count}"));
        row.extend(looped.then(|| loops.collect::<Vec<_>>().join(", ")));
        table.row(row);
    }
    lines.push(table.text());
    more(report.cases.len(), CASES, ["more case", "more cases"], lines);
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

fn name(case: &CaseReport) -> String {
    labelled(&case.case, &case.name)
}

/// Id and name; an id that ends with the name, as those of JUnit do, is used alone.
fn labelled(id: &str, name: &str) -> String {
    if id.ends_with(name) { id.to_owned() } else { format!("{id} {name}") }
}

/// Joins names; repetitions are counted.
fn compress(names: &[String]) -> String {
    let runs = names.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 | 2 => run.join(" "),
        n => format!("{} x{n}", run[0]),
    });
    runs.collect::<Vec<_>>().join(" ")
}

/// Cuts a text to a number of characters, at a space.
fn clip(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    format!("{} …", text[..end].rsplit_once(' ').map_or(&text[..end], |(words, _)| words))
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
    fn long_titles_are_clipped_at_spaces() {
        assert_eq!(clip("éé éé éé", 7), "éé éé …");
        assert_eq!(clip("abc", 3), "abc");
    }
}
