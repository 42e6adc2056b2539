//! `regression-report.md`: comparison of a launch with earlier ones.

use super::RunReport;
use super::causes::Cause;
use super::markdown::{code, line};
use super::timeline::{LaunchOccurrence, Regression, VanishedCause};
use asterisk_diag::counted;
use std::fmt::Write as _;

/// Maximum number of vanished causes listed by name; the others are counted.
const MAX_VANISHED: usize = 200;

/// Renders `regression-report.md`; `None` if the run was not recorded.
pub fn over_time(report: &RunReport) -> Option<String> {
    let found = report.regression.as_ref()?;
    let mut out = String::new();
    let launch = &report.launch;
    let number = launch.number.map_or(String::new(), |number| format!(" #{number}"));
    let _ = writeln!(out, "# Regression report of {}{number}\n", line(&launch.name));
    head(found, &mut out);
    let sections = [
        ("Regressions", "Seen before, then resolved or not seen, now back.", &found.regressions),
        ("New", "Not in any earlier launch.", &found.new),
        ("Recurring", "Also in the previous launch.", &found.recurring),
        ("Flaky", "They fail and pass without a change.", &found.flaky),
    ];
    for (title, means, numbers) in sections {
        if numbers.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n## {title}\n\n{means}\n");
        out.push_str("| Cause | Defect | Component | Failures | Since | Launches | Last before |\n| --- | --- | --- | --- | --- | --- | --- |\n");
        for cause in numbers.iter().filter_map(|number| report.causes.get(number - 1)) {
            row(cause, &mut out);
        }
    }
    gone(&found.gone, &mut out);
    matrix(found, &mut out);
    Some(out)
}

fn head(found: &Regression, out: &mut String) {
    let Some((this, earlier)) = found.launches.split_last() else {
        out.push_str("No earlier launch to compare with.\n");
        return;
    };
    let _ = writeln!(out, "- This launch: {}, {}", named(this), counted(this.failures, "failure", "failures"));
    match earlier {
        [] => out.push_str("- Compared with: no earlier launch of this name is known, so every cause is new\n"),
        [.., last] => {
            let many = counted(earlier.len(), "earlier launch", "earlier launches");
            let _ = writeln!(out, "- Compared with: {many} of this name, the last one {}", named(last));
        }
    }
    let _ = writeln!(
        out,
        "- Causes: {} back, {} new, {} recurring, {} flaky; {} no longer seen",
        found.regressions.len(),
        found.new.len(),
        found.recurring.len(),
        found.flaky.len(),
        found.gone.len()
    );
}

fn row(cause: &Cause, out: &mut String) {
    let (finding, seen) = (&cause.finding, &cause.seen);
    let before = seen.elsewhere.first().map_or(String::new(), named);
    let absent =
        if seen.absent > 0 { format!(", then not in {}", counted(seen.absent, "launch", "launches")) } else { String::new() };
    let cells = [
        format!("{}. {}", cause.number, line(&finding.title)),
        line(&finding.defect_type),
        line(&finding.component),
        cause.cases.len().to_string(),
        seen.since.as_ref().map_or("here".into(), named),
        seen.launches.to_string(),
        format!("{before}{absent}"),
    ];
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn gone(gone: &[VanishedCause], out: &mut String) {
    if gone.is_empty() {
        return;
    }
    out.push_str("\n## No longer seen\n\nIn earlier launches, but not in this one: fixed, or not run.\n\n");
    out.push_str("| What | Defect | Component | Kind | Since | Last | Launches | Launches without |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for one in gone.iter().take(MAX_VANISHED) {
        let cells = [
            line(&one.title),
            line(&one.defect_type),
            line(&one.component),
            line(&one.category),
            named(&one.since),
            named(&one.last),
            one.launches.to_string(),
            one.absent.to_string(),
        ];
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if gone.len() > MAX_VANISHED {
        let _ = writeln!(out, "\n{} more are in `rca.json`.", gone.len() - MAX_VANISHED);
    }
}

fn matrix(found: &Regression, out: &mut String) {
    let Some(width) = found.matrix.first().map(|line| line.cells.len()) else { return };
    let columns = &found.launches[found.launches.len().saturating_sub(width)..];
    out.push_str(
        "\n## Causes over launches\n\nThe number of failures that each explains. A serial cause occurs in several versions.\n\n",
    );
    let heads: Vec<String> = columns.iter().map(|place| line(&place.label())).collect();
    let _ = writeln!(out, "| Cause | Versions | Serial | {} |", heads.join(" | "));
    let _ = writeln!(out, "| --- | --- | --- |{}", " --- |".repeat(columns.len()));
    for row in &found.matrix {
        let cells: Vec<String> = row.cells.iter().map(|count| if *count == 0 { "·".into() } else { count.to_string() }).collect();
        let number = row.cause.map_or("gone:".into(), |number| format!("{number}."));
        let serial = if row.serial { "serial" } else { "" };
        let _ = writeln!(out, "| {number} {} | {} | {serial} | {} |", line(&row.title), row.versions, cells.join(" | "));
    }
}

/// A launch by its version or name, and its id.
fn named(place: &LaunchOccurrence) -> String {
    format!("{} ({})", line(&place.label()), code(&place.launch))
}
