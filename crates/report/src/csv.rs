//! Renders the cases of a report as CSV (RFC 4180), a line each.

use super::build::RunReport;
use std::collections::HashMap;
use std::io::{self, Write};

/// The columns.
const COLUMNS: [&str; 19] = [
    "run",
    "launch",
    "job_url",
    "case",
    "suite",
    "test",
    "status",
    "case_status",
    "cause",
    "title",
    "defect_type",
    "defect_name",
    "category",
    "component",
    "confidence",
    "reviewed_by",
    "decision",
    "needs_review",
    "state",
];

/// Writes `cases.csv`.
pub fn csv(report: &RunReport, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(COLUMNS.join(",").as_bytes())?;
    to.write_all(b"\n")?;
    let causes: HashMap<&str, _> =
        report.causes.iter().flat_map(|cause| cause.cases.iter().map(move |case| (case.as_str(), cause))).collect();
    let launch = &report.launch;
    report.cases.each(|case| {
        let finding = &case.finding;
        let cause = causes.get(case.case.as_str());
        let review = finding.review.as_ref();
        let state = cause.and_then(|cause| cause.seen.state).map(|state| serde_json::json!(state));
        let cells: [&str; COLUMNS.len()] = [
            &report.run,
            &launch.run_id,
            launch.job_url.as_deref().unwrap_or_default(),
            &case.case,
            &case.suite,
            &case.name,
            case.status.word(),
            case.case_status.as_deref().unwrap_or_default(),
            &cause.map_or(String::new(), |cause| cause.number.to_string()),
            &finding.title,
            &finding.defect_type,
            &finding.defect_name,
            &finding.category,
            &finding.component,
            &finding.confidence.map_or(String::new(), |sure| sure.to_string()),
            review.map_or("", |review| &review.by),
            review.map_or("", |review| &review.decision),
            &finding.needs_review,
            state.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default(),
        ];
        to.write_all(cells.map(cell).join(",").as_bytes())?;
        to.write_all(b"\n")
    })
}

/// A cell. Spreadsheets take a text that begins like a formula for one, so it gets an apostrophe; quotation marks are doubled.
fn cell(text: &str) -> String {
    let clean = super::text::clean(text);
    let guard = if clean.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if guard.is_empty() && !clean.contains([',', '"', '\n', '\r']) {
        return clean.into_owned();
    }
    format!("\"{guard}{}\"", clean.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_necessary_and_are_not_formulas() {
        for (text, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("a, b", "\"a, b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("@x", "\"'@x\""),
            ("-1", "\"'-1\""),
            ("\u{202e}x", "\u{fffd}x"),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
