//! Renders the report as Markdown.

use super::build::RunReport;
use super::case::CaseReport;
use super::causes::Cause;
use super::finding::{AlternativeDefect, DefectReason};
use super::text::{clean, short};
use super::timeline::CauseState;
use asterisk_base::model::markdown_line;
use asterisk_diag::counted;
use asterisk_walk::WalkStatus;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes `report.md`: totals, a table of all cases, a section for each cause, and the decisions of each case.
pub fn markdown(report: &RunReport, to: &mut dyn Write) -> io::Result<()> {
    let mut out = String::new();
    head(report, &mut out);
    out.push_str("\n| Case | Test | Category | Defect | Component | Confidence | Path | Next steps |\n");
    out.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    report.cases.each(|case| {
        row(case, &mut out);
        flush(&mut out, to)
    })?;
    waiting(report, &mut out);
    if !report.causes.is_empty() {
        out.push_str("\n## Root causes\n");
        let names: BTreeMap<&str, &str> = report.cases.iter().map(|case| (&*case.case, &*case.name)).collect();
        for cause in &report.causes {
            cause_section(cause, &names, &mut out);
            flush(&mut out, to)?;
        }
    }
    out.push_str("\n## How each case was decided\n");
    report.cases.each(|case| {
        decisions(case, &mut out);
        flush(&mut out, to)
    })?;
    flush(&mut out, to)
}

/// Writes and clears the buffer.
fn flush(out: &mut String, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(out.as_bytes())?;
    out.clear();
    Ok(())
}

fn head(report: &RunReport, out: &mut String) {
    let launch = &report.launch;
    let number = launch.number.map_or(String::new(), |number| format!(" #{number}"));
    let _ = writeln!(out, "# Root causes of {}{number}\n", line(&launch.name));
    let _ = writeln!(
        out,
        "- Launch: {}{}",
        code(&launch.run_id),
        launch.started_at.map_or(String::new(), |at| format!(", began {at}"))
    );
    let domain = report.domain.as_ref().map_or(String::new(), |name| format!(", domain `{name}`"));
    let _ = writeln!(out, "- Run: `{}` of `{}`{domain}", report.run, report.pipeline);
    let totals = &report.totals;
    let _ = write!(out, "- Failures: {}", totals.cases);
    if totals.error > 0 {
        let _ = write!(out, ", of which {} could not be analysed", totals.error);
    }
    let _ = writeln!(out, "; causes: {}", report.causes.len());
    if let Some(found) = report.regression.as_ref().filter(|found| found.launches.len() > 1) {
        let _ = writeln!(
            out,
            "- Over time: {} back, {} new, {} recurring, {} flaky, {} no longer seen (`regression-report.md`)",
            found.regressions.len(),
            found.new.len(),
            found.recurring.len(),
            found.flaky.len(),
            found.gone.len()
        );
    }
    if let Some(format) = launch.attributes.get("report_format") {
        let _ = writeln!(out, "- Read as: {}", line(format));
    }
    if !launch.totals.is_empty() {
        let parts: Vec<String> = launch.totals.iter().map(|(what, count)| format!("{count} {}", line(what))).collect();
        let _ = writeln!(out, "- Tests: {}", parts.join(", "));
    }
    for (title, counts) in [("By category", &totals.by_category), ("By defect type", &totals.by_defect_type)] {
        if !counts.is_empty() {
            let mut counts: Vec<_> = counts.iter().collect();
            counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{} {count}", line(what))).collect();
            let _ = writeln!(out, "- {title}: {}", parts.join(", "));
        }
    }
    if let Some(branch) = &launch.git.branch {
        let _ = writeln!(
            out,
            "- Branch: {}{}",
            code(branch),
            launch.git.commit.as_ref().map_or(String::new(), |c| format!(" at {}", code(c)))
        );
    }
    if let Some(url) = &launch.job_url {
        let _ = writeln!(out, "- CI job: <{url}>");
    }
    for note in &launch.notes {
        let _ = writeln!(out, "- Note: {}", line(note));
    }
}

fn row(case: &CaseReport, out: &mut String) {
    let finding = &case.finding;
    let next = match &case.error {
        Some(error) if error.node.is_empty() => error.message.clone(),
        Some(error) => format!("stopped at {}: {}", error.node, error.message),
        None => finding.next_steps.first().cloned().unwrap_or_default(),
    };
    let cells = [
        &case.case,
        &case.name,
        &finding.category,
        &finding.defect_type,
        &finding.component,
        &confidence(finding.confidence),
        &case.path.join(" "),
        &next,
    ];
    let cells: Vec<String> = cells.into_iter().map(|text| line(text)).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// The most entries of the review queue that the page lists.
const MAX_WAITING: usize = 40;

/// The review queue, most uncertain and most frequent first.
fn waiting(report: &RunReport, out: &mut String) {
    let queue = report.review_queue();
    if queue.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Needs review\n");
    let _ =
        writeln!(out, "Most uncertain and most frequent first; `asterisk review --next --run {}` shows the first.\n", report.run);
    for entry in queue.iter().take(MAX_WAITING) {
        let defect = if entry.defect_name.is_empty() { &entry.defect_type } else { &entry.defect_name };
        let _ = writeln!(
            out,
            "- {} {}: {}, confidence {}, explains {}. {}",
            code(&entry.case),
            line(&entry.title),
            line(defect),
            confidence(entry.confidence),
            counted(entry.explains, "failure", "failures"),
            line(&short(&entry.why, 200)),
        );
    }
    if let Some(more @ 1..) = queue.len().checked_sub(MAX_WAITING) {
        let _ = writeln!(out, "- and {more} more: `asterisk review --list --run {}`", report.run);
    }
}

fn cause_section(cause: &Cause, names: &BTreeMap<&str, &str>, out: &mut String) {
    let finding = &cause.finding;
    let _ = writeln!(out, "\n### {}. {}\n", cause.number, line(&finding.title));
    let defect = if finding.defect_name.is_empty() {
        finding.defect_type.clone()
    } else {
        format!("{} ({})", finding.defect_name, finding.defect_type)
    };
    let parts = [("Defect", defect), ("Category", finding.category.clone()), ("Component", finding.component.clone())];
    let parts: Vec<String> =
        parts.iter().filter(|(_, text)| !text.is_empty()).map(|(what, text)| format!("{what}: {}", line(text))).collect();
    let by_rules = finding.by_rules.map_or_else(String::new, |given| format!(" (the rules give it {given:.2})"));
    let _ = writeln!(out, "{}; confidence {}{by_rules}.\n", parts.join("; "), confidence(finding.confidence));
    if !finding.summary.is_empty() {
        let _ = writeln!(out, "{}\n", quote(&finding.summary));
    }
    if !finding.alternatives.is_empty() {
        let other = |other: &AlternativeDefect| format!("{} ({}) {:.2}", other.defect_name, other.defect_type, other.probability);
        let others: Vec<String> = finding.alternatives.iter().map(|one| line(&other(one))).collect();
        let _ = writeln!(out, "Alternatives: {}.\n", others.join(", "));
    }
    if let Some(past) = past(cause) {
        let _ = writeln!(out, "{past}\n");
    }
    if let Some(root) = &finding.root {
        let people = match root.by.as_str() {
            "merged" => " A person merged it with another cause.",
            "split" => " A person split it off another cause.",
            _ => "",
        };
        let _ = writeln!(out, "Root: {} ({}, {}).{people}\n", line(&root.says), code(&root.rule), code(&root.at));
    }
    if let Some(first) = cause.follows {
        let _ = writeln!(out, "It follows from cause {first}: fix that one first.\n");
    } else if finding.root.as_ref().is_some_and(|root| root.consequence) {
        let _ = writeln!(out, "It follows from another failure that is not in this launch.\n");
    }
    if !finding.owners.is_empty() {
        let _ = writeln!(out, "Owners: {}.\n", finding.owners.iter().map(|owner| code(owner)).collect::<Vec<_>>().join(", "));
    }
    let names =
        cause.cases.iter().map(|id| format!("{} {}", code(id), line(names.get(id.as_str()).copied().unwrap_or_default())));
    list("Cases", names, out);
    list("Evidence", finding.evidence.iter().map(|item| line(item)), out);
    let reason = |reason: &DefectReason| {
        format!("{} ({:+.2}, {}): {}", code(&reason.id), reason.weight, code(&reason.at), line(&reason.says))
    };
    list("Rules that decided", finding.reasons.iter().map(reason), out);
    if !finding.stack.is_empty() {
        // Indented text is shown unchanged.
        let _ = writeln!(out, "Stack, the product's frames marked `>`:\n");
        for frame in &finding.stack {
            let _ = writeln!(out, "    {}", clean(frame));
        }
        let _ = writeln!(out);
    }
    let parts = [("Missing", &finding.gaps), ("Keep in mind", &finding.advisories), ("Next steps", &finding.next_steps)];
    for (title, items) in parts {
        list(title, items.iter().map(|item| line(item)), out);
    }
}

/// Whether a cause is new, and since when it is known.
fn past(cause: &Cause) -> Option<String> {
    let seen = &cause.seen;
    let since = seen.since.as_ref()?;
    let known = format!("known since {}, in {}", line(&since.label()), counted(seen.launches, "launch", "launches"));
    Some(match (seen.state?, seen.absent) {
        (CauseState::New, _) => return None,
        (CauseState::Recurring, _) => format!("History: {known}."),
        (CauseState::Flaky, _) => format!("History: flaky, {known}."),
        (CauseState::Regression, 0) => format!("History: **regression**, {known}; it was resolved."),
        (CauseState::Regression, absent) => {
            format!("History: **regression**, {known}, then not in {}.", counted(absent, "launch", "launches"))
        }
    })
}

fn decisions(case: &CaseReport, out: &mut String) {
    let _ = writeln!(out, "\n### {} {}\n", code(&case.case), line(&case.name));
    for (index, turn) in case.turns.iter().enumerate() {
        let code = case.path.get(index).filter(|code| **code != turn.node);
        let node = code.map_or_else(|| turn.node.clone(), |code| format!("{code} {}", turn.node));
        let _ = writeln!(out, "{}. {node}: {} because {}", index + 1, turn.edge, line(&turn.because));
        for advisory in &turn.advisories {
            let _ = writeln!(out, "   - advisory {}", line(advisory));
        }
    }
    match (&case.error, case.status) {
        (Some(error), _) => {
            let at = if error.node.is_empty() { String::new() } else { format!(" at {}", error.node) };
            let _ = writeln!(out, "\nStopped{at} ({}): {}", error.kind, line(&error.message));
        }
        (None, WalkStatus::Paused | WalkStatus::Running) => out.push_str("\nNot finished.\n"),
        _ => {}
    }
    if !case.notes.is_empty() {
        out.push('\n');
        list("Notes", case.notes.iter().map(|note| line(note)), out);
    }
    for section in &case.finding.sections {
        out.push('\n');
        list(&section.title, section.lines.iter().map(|item| line(item)), out);
    }
}

/// A list whose items are Markdown already.
fn list(title: &str, items: impl ExactSizeIterator<Item = String>, out: &mut String) {
    if items.len() == 0 {
        return;
    }
    let _ = writeln!(out, "{title}:\n");
    for item in items {
        let _ = writeln!(out, "- {item}");
    }
    out.push('\n');
}

/// Formats a confidence.
pub fn confidence(confidence: Option<f64>) -> String {
    confidence.map_or("n/a".into(), |value| format!("{value:.2}"))
}

/// Escapes Markdown in a one-line text.
pub(super) fn line(text: &str) -> String {
    markdown_line(&clean(text))
}

/// An inline code span.
pub(super) fn code(text: &str) -> String {
    let plain: String = clean(text).chars().map(|c| if c == '`' { '\'' } else { c }).filter(|c| !c.is_control()).collect();
    format!("`{plain}`")
}

/// A text of several lines as a quotation, so that nothing in it becomes structure.
fn quote(text: &str) -> String {
    text.lines().map(|text| format!("> {}", line(text))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CaseFinding;

    #[test]
    fn what_comes_from_outside_cannot_become_markup() {
        assert_eq!(quote("one\n# two"), "> one\n> \\# two");
        assert_eq!(quote("one\n===\n---\n~~~"), "> one\n> \\===\n> \\---\n> \\~\\~\\~");
    }

    #[test]
    fn a_cause_lists_only_what_there_is() {
        let finding = CaseFinding {
            title: "It broke".into(),
            defect_type: "x1".into(),
            evidence: vec!["a*b".into()],
            ..CaseFinding::default()
        };
        let mut out = String::new();
        list("Evidence", finding.evidence.iter().map(|item| line(item)), &mut out);
        list("Missing", finding.gaps.iter().map(|item| line(item)), &mut out);
        assert_eq!(out, "Evidence:\n\n- a\\*b\n\n");
    }

    #[test]
    fn a_missing_confidence_is_shown() {
        assert_eq!((confidence(None), confidence(Some(0.7))), ("n/a".into(), "0.70".to_owned()));
    }
}
