//! The report as a document: metrics, tables, and the cases that went wrong.

use super::report::CalibrationReport;
use super::scoreboard::{MetricResult, plain};
use std::fmt::Write as _;
use std::io;

/// The most cases listed.
const LISTED: usize = 200;

/// Renders the report as Markdown.
pub fn markdown(report: &CalibrationReport) -> io::Result<String> {
    let mut out = String::new();
    let _ = writeln!(out, "# Calibration of {}\n", cell(&report.scenario));
    if !report.description.is_empty() {
        let _ = writeln!(out, "{}\n", cell(&report.description));
    }
    let _ = writeln!(
        out,
        "{} cases, {} held out; {}.\n",
        report.scored,
        report.held_out,
        if report.pass { "passed" } else { "not passed" }
    );
    let _ = writeln!(out, "| id | metric | value | 90 % interval | held out | threshold | |\n|---|---|---|---|---|---|---|");
    for metric in &report.metrics {
        let MetricResult { id, name, value, interval, held_out, .. } = metric;
        let number = |value: &Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
        let interval = interval.map_or_else(String::new, |[least, most]| format!("{least:.3} to {most:.3}"));
        let value = value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3}"));
        let bar = bar(metric);
        let word = word(metric);
        let _ = writeln!(out, "| {} | {} | {value} | {interval} | {} | {bar} | {word} |", cell(id), cell(name), number(held_out));
    }
    for table in &report.tables {
        let _ = writeln!(out, "\n## {}\n", cell(&table.title));
        let (header, rows) = table.shown();
        let _ = writeln!(out, "| {} |\n|{}", header.join(" | "), "---|".repeat(header.len()));
        for row in rows {
            let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    if !report.notes.is_empty() {
        let _ = writeln!(out, "\n## Notes\n");
        for note in &report.notes {
            let _ = writeln!(out, "- {}", cell(note));
        }
    }
    let _ = writeln!(
        out,
        "\n## Wrong cases\n\n| case | expected | found | confidence | expected path | path |\n|---|---|---|---|---|---|"
    );
    let (mut listed, mut more) = (0, 0);
    report.cases.each(|case| {
        if case["right"] != false {
            return;
        }
        if listed == LISTED {
            more += 1;
            return;
        }
        listed += 1;
        let of = |key: &str| cell(&plain(&case[key]));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            of("case_id"),
            of("expected_defect_type"),
            of("actual_defect_type"),
            of("confidence"),
            of("expected_path"),
            of("actual_path")
        );
    })?;
    if more > 0 {
        let _ = writeln!(out, "\n... and {more} more");
    }
    Ok(out)
}

/// How a metric is judged.
pub fn bar(metric: &MetricResult) -> String {
    let Some(bar) = metric.bar else { return String::new() };
    match metric.direction.as_str() {
        "higher" => format!(">= {bar}"),
        "lower" => format!("<= {bar}"),
        _ => format!("{} to {}", bar / 2.0, bar * 2.0),
    }
}

/// Whether a metric passes, in a word.
pub fn word(metric: &MetricResult) -> &'static str {
    match (metric.bar, metric.pass) {
        (Some(_), Some(true)) => "pass",
        (Some(_), Some(false)) => "MISSED",
        _ => "",
    }
}

/// A text that fits into a table.
fn cell(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ").replace('|', "\\|").replace('<', "&lt;")
}
