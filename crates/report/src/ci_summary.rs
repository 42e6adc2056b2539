//! The report as one Markdown page, for a CI job summary or a pull request comment.

use super::build::RunReport;
use super::causes::Cause;
use super::markdown::{code, confidence, line};
use super::text::short;
use super::timeline::CauseState;
use asterisk_diag::counted;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lets a bot find the comment that it posted before.
pub const COMMENT_MARK: &str = "<!-- asterisk: root causes of failed tests -->";

/// The maximum number of tests, and of pieces of evidence, shown per cause.
const MAX_ITEMS: usize = 5;

/// How much detail a page shows.
#[derive(Clone, Copy, Debug)]
pub struct SummarySize {
    /// The maximum number of causes in the table.
    pub causes: usize,
    /// The maximum number of causes shown with details.
    pub details: usize,
}

impl SummarySize {
    /// The size of a job summary.
    pub const JOB: Self = Self { causes: 50, details: 20 };
    /// The size of a comment.
    pub const COMMENT: Self = Self { causes: 10, details: 3 };
}

/// Renders the page. `failed` lists the failed gates with the figures that they read.
pub fn ci_summary(report: &RunReport, failed: &[String], size: SummarySize) -> String {
    let mut out = String::new();
    let totals = &report.totals;
    let title = match totals.cases {
        0 => "No failed tests".to_owned(),
        cases => {
            format!("{} of {}", counted(report.causes.len(), "cause", "causes"), counted(cases, "failed test", "failed tests"))
        }
    };
    let _ = writeln!(out, "## {title}\n");
    for gate in failed {
        let _ = writeln!(out, "**Failed:** {}\n", code(gate));
    }
    let _ = writeln!(out, "{}\n", figures(report));
    for gap in &report.launch.gaps {
        let _ = writeln!(out, "**Not all results could be read:** {}\n", text(gap, 300));
    }
    for rule in &report.failed_rules {
        let _ = writeln!(out, "**A rule failed:** {}\n", text(&rule.to_string(), 300));
    }
    if !report.causes.is_empty() {
        table(report, size.causes, &mut out);
        let names: BTreeMap<&str, &str> = report.cases.iter().map(|case| (&*case.case, &*case.name)).collect();
        report.causes.iter().take(size.details).for_each(|cause| details(cause, &names, &mut out));
    }
    let _ = writeln!(out, "<sub>Run {}{}</sub>", code(&report.run), job(report));
    out
}

/// Renders a comment that a later one can replace.
pub fn ci_comment(report: &RunReport, failed: &[String]) -> String {
    format!("{COMMENT_MARK}\n{}", ci_summary(report, failed, SummarySize::COMMENT))
}

/// Flattens untrusted text to one escaped line without mentions.
fn text(foreign: &str, most: usize) -> String {
    line(&short(foreign, most)).replace('@', "@\u{200b}")
}

fn job(report: &RunReport) -> String {
    report
        .launch
        .job_url
        .as_ref()
        .map_or(String::new(), |url| format!(" of <a href=\"{}\">this job</a>", url.replace('&', "&amp;")))
}

fn figures(report: &RunReport) -> String {
    let totals = &report.totals;
    let mut parts: Vec<String> = Vec::new();
    if !report.launch.totals.is_empty() {
        let counts: Vec<String> =
            report.launch.totals.iter().map(|(what, count)| format!("{count} {}", text(what, 40))).collect();
        parts.push(format!("Tests: {}", counts.join(", ")));
    }
    if !totals.by_defect_type.is_empty() {
        let counts: Vec<String> =
            totals.by_defect_type.iter().map(|(code, count)| format!("{} {count}", text(code, 40))).collect();
        parts.push(format!("failures by defect: {}", counts.join(", ")));
    }
    if let Some(found) = report.regression.as_ref().filter(|found| found.launches.len() > 1) {
        parts.push(format!("{} new, {} back, {} recurring", found.new.len(), found.regressions.len(), found.recurring.len()));
    }
    if totals.error > 0 {
        parts.push(format!("{} could not be analysed", counted(totals.error, "failure", "failures")));
    }
    if totals.needs_review > 0 {
        parts.push(format!("{} review", counted(totals.needs_review, "failure needs", "failures need")));
    }
    if parts.is_empty() { "Nothing to analyse.".to_owned() } else { format!("{}.", parts.join("; ")) }
}

fn table(report: &RunReport, most: usize, out: &mut String) {
    let compared = report.regression.as_ref().is_some_and(|found| found.launches.len() > 1);
    let (head, rule) = if compared { (" History |", " --- |") } else { ("", "") };
    let _ = writeln!(out, "| # | Cause | Defect | Component | Failures |{head} Next steps |");
    let _ = writeln!(out, "| --- | --- | --- | --- | --- |{rule} --- |");
    for cause in report.causes.iter().take(most) {
        let finding = &cause.finding;
        let past = if compared { format!(" {} |", past(cause)) } else { String::new() };
        let _ = writeln!(
            out,
            "| {} | {} | {}, {} | {} | {} |{past} {} |",
            cause.number,
            text(&finding.title, 120),
            text(&defect(cause), 40),
            confidence(finding.confidence),
            text(&finding.component, 60),
            cause.cases.len(),
            text(finding.next_steps.first().map_or("", String::as_str), 160),
        );
    }
    if let Some(more @ 1..) = report.causes.len().checked_sub(most) {
        let _ = writeln!(out, "\nand {}, in the report", counted(more, "more cause", "more causes"));
    }
    out.push('\n');
}

fn defect(cause: &Cause) -> String {
    let finding = &cause.finding;
    if finding.defect_name.is_empty() { finding.defect_type.clone() } else { finding.defect_name.clone() }
}

fn past(cause: &Cause) -> &'static str {
    match cause.seen.state {
        Some(CauseState::New) => "new",
        Some(CauseState::Recurring) => "recurring",
        Some(CauseState::Regression) => "**back**",
        Some(CauseState::Flaky) => "flaky",
        None => "",
    }
}

fn details(cause: &Cause, names: &BTreeMap<&str, &str>, out: &mut String) {
    let finding = &cause.finding;
    let title: String = short(&finding.title, 120).replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(out, "<details><summary>{}. {}</summary>\n", cause.number, title.replace('@', "@\u{200b}"));
    if !finding.summary.is_empty() {
        let _ = writeln!(out, "{}\n", text(&finding.summary, 1000));
    }
    if let Some(place) = &finding.location {
        let line = if place.line > 0 { format!(":{}", place.line) } else { String::new() };
        let _ = writeln!(out, "At {}\n", code(&format!("{}{line}", place.path)));
    }
    list("Evidence", finding.evidence.iter().map(String::as_str), out);
    list("Next steps", finding.next_steps.iter().map(String::as_str), out);
    let tests = cause.cases.iter().map(|case| names.get(case.as_str()).copied().unwrap_or(case));
    list("Failed", tests, out);
    out.push_str("</details>\n\n");
}

fn list<'t>(title: &str, items: impl ExactSizeIterator<Item = &'t str>, out: &mut String) {
    if items.len() == 0 {
        return;
    }
    let more = items.len().saturating_sub(MAX_ITEMS);
    let _ = writeln!(out, "{title}:\n");
    for item in items.take(MAX_ITEMS) {
        let _ = writeln!(out, "- {}", text(item, 300));
    }
    if more > 0 {
        let _ = writeln!(out, "- and {more} more");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CaseFinding;
    use crate::build::report_of;
    use crate::case::CaseReport;

    fn report(cases: usize) -> RunReport {
        let case = |at: usize| {
            let finding = CaseFinding {
                title: format!("It broke | <b> @octocat {at}"),
                defect_type: "x1".into(),
                cause: at.to_string(),
                evidence: (0..9).map(|item| format!("line {item}")).collect(),
                ..CaseFinding::default()
            };
            CaseReport { case: at.to_string(), name: format!("test {at}"), finding, ..CaseReport::default() }
        };
        report_of((0..cases).map(case).collect())
    }

    #[test]
    fn the_page_is_bounded_and_escapes_untrusted_text() {
        let page = ci_summary(&report(60), &["causes > 2 (causes 60)".to_owned()], SummarySize::JOB);
        assert!(page.starts_with("## 60 causes of 60 failed tests\n\n**Failed:** `causes > 2 (causes 60)`\n"), "{page}");
        assert_eq!(page.matches("\n| ").count(), 52, "head, rule and 50 rows: {page}");
        assert_eq!(page.matches("<details>").count(), 20);
        assert!(page.contains("and 10 more causes, in the report") && page.contains("- and 4 more"), "{page}");
        assert!(page.contains("It broke \\| \\<b> @\u{200b}octocat") && !page.contains("@octocat"), "{page}");
        assert!(page.contains("<summary>1. It broke | &lt;b>"), "{page}");
        let comment = ci_comment(&report(12), &[]);
        assert!(comment.starts_with(COMMENT_MARK) && comment.matches("<details>").count() == 3, "{comment}");
    }

    #[test]
    fn a_launch_without_failures_says_so() {
        assert!(ci_summary(&report(0), &[], SummarySize::JOB).starts_with("## No failed tests\n\nNothing to analyse.\n"));
    }
}
