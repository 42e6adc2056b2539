//! Prints the report of a calibration.

use super::GlobalArgs;
use super::junit::{self, JunitCase, JunitNote, JunitSuite};
use super::run::{print_failed_rules, with_failed_rules};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_calibrate::{CalibrationReport, MetricComparison, MetricResult, PackComparison, bar, markdown, page, plain, word};
use asterisk_diag::counted;
use asterisk_session::SessionError;
use clap::ValueEnum;
use std::io;

/// The maximum number of cases listed.
const LISTED: usize = 50;
/// The maximum number of ids in a note.
const NAMED: usize = 10;

/// The format of a calibration's report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum CalibrationFormat {
    /// Text.
    #[default]
    Pretty,
    /// JSON.
    Json,
    /// A document.
    Markdown,
    /// A self-contained page, with the verdict of each case.
    Html,
    /// For CI systems: a test per metric.
    Junit,
}

impl CalibrationFormat {
    pub(super) fn ui(self, global: &GlobalArgs) -> Ui {
        global.printer(if self == Self::Json { OutputFormat::Json } else { OutputFormat::Pretty })
    }
}

/// Prints the report. With `all`, every case is listed, not only those that went wrong.
pub(super) fn print(ui: &Ui, format: CalibrationFormat, report: &CalibrationReport, all: bool) -> Result<Exit, SessionError> {
    let unread = |source| SessionError::Write { path: report.cases.path().display().to_string(), source };
    match format {
        CalibrationFormat::Json => ui.json(report),
        CalibrationFormat::Markdown => ui.out(&markdown(report).map_err(unread)?),
        CalibrationFormat::Html => {
            let whole = page(report).map_err(unread)?.map_err(|fault| SessionError::Texts((*fault).into()))?;
            ui.out(&whole);
        }
        CalibrationFormat::Junit => ui.out(&junit::write("calibration", &[suite(report)], 0.0)),
        CalibrationFormat::Pretty => pretty(ui, report, all).map_err(unread)?,
    }
    print_failed_rules(ui, &report.failed_rules);
    Ok(with_failed_rules(if report.pass { Exit::Ok } else { Exit::Findings }, &report.failed_rules))
}

fn pretty(ui: &Ui, report: &CalibrationReport, all: bool) -> io::Result<()> {
    let held_out = if report.held_out > 0 { format!(" ({} held out)", report.held_out) } else { String::new() };
    let runs = if report.runs > 1 { format!(", {} runs", report.runs) } else { String::new() };
    let cases = counted(report.scored, "case", "cases");
    ui.out(&format!("{}: {cases}{held_out}{runs}, by the scorecard {}\n", report.scenario, report.scorecard));
    let mut header = vec!["id", "metric", "value", "90 % interval", "threshold", ""];
    if report.held_out > 0 {
        header.insert(3, "held out");
    }
    let mut table = ui.table(&header);
    let mut tier = "";
    for metric in report.metrics.iter().filter(|metric| says_something(metric)) {
        if tier != metric.tier && !tier.is_empty() {
            table.row(header.iter().map(|_| String::new()));
        }
        tier = &metric.tier;
        let number = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), shown);
        let interval = metric.interval.map_or_else(String::new, |[least, most]| format!("{} to {}", shown(least), shown(most)));
        let mut row = vec![metric.id.clone(), metric.name.replace('_', " "), number(metric.value), interval, bar(metric)];
        if report.held_out > 0 {
            row.insert(3, number(metric.held_out));
        }
        row.push(word(metric).to_owned());
        table.row(row);
    }
    ui.out(&table.text());
    for of in report.tables.iter().filter(|table| !table.rows.is_empty()) {
        let (header, rows) = of.shown();
        let mut table = ui.table(&header.iter().map(String::as_str).collect::<Vec<_>>());
        for row in rows {
            table.row(row);
        }
        ui.out(&format!("\n{}", of.title));
        ui.out(&table.text());
    }
    if let Some(comparison) = &report.comparison {
        compared(ui, comparison);
    }
    cases_of(ui, report, all)?;
    for note in &report.notes {
        ui.out(&format!("note: {note}"));
    }
    for out in report.left_out.iter().take(NAMED) {
        ui.out(&format!("skipped: {}: {}", out.case, out.why));
    }
    if report.left_out.len() > NAMED {
        ui.out(&format!("skipped: {} more", report.left_out.len() - NAMED));
    }
    let judged = report.metrics.iter().filter(|metric| metric.bar.is_some() && metric.pass.is_some());
    let missed: Vec<&str> = judged.clone().filter(|metric| metric.pass == Some(false)).map(|metric| metric.id.as_str()).collect();
    let judged = counted(judged.count(), "metric that applies passes", "metrics that apply pass");
    match missed.as_slice() {
        [] => ui.out(&format!("\n{judged}")),
        missed => ui.out(&format!("\nbelow the threshold: {}", missed.join(", "))),
    }
    ui.note(&format!("results: {}", report.cases.path().display()));
    Ok(())
}

/// Whether a metric is worth a line: those that are only shown need a value other than zero.
fn says_something(metric: &MetricResult) -> bool {
    metric.bar.is_some() || metric.value.is_some_and(|value| value != 0.0)
}

fn shown(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

fn compared(ui: &Ui, comparison: &PackComparison) {
    let mut table = ui.table(&["id", "metric", "now", "candidate", "difference", "90 % interval", ""]);
    let differs = |metric: &&MetricComparison| metric.baseline != metric.candidate;
    for metric in comparison.metrics.iter().filter(differs) {
        let number = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), shown);
        let signed = |value: f64| format!("{value:+.3}");
        table.row([
            metric.id.clone(),
            metric.name.replace('_', " "),
            number(metric.baseline),
            number(metric.candidate),
            metric.difference.map_or_else(String::new, signed),
            metric.interval.map_or_else(String::new, |[least, most]| format!("{} to {}", signed(least), signed(most))),
            if metric.beyond_noise { "beyond noise" } else { "" }.to_owned(),
        ]);
    }
    ui.out(&format!("\nCompared with {}", comparison.candidate));
    if comparison.metrics.iter().all(|metric| !differs(&metric)) {
        ui.out("no metric differs");
    } else {
        ui.out(&table.text());
    }
    for (what, cases) in [("correct only there", &comparison.won), ("correct only here", &comparison.lost)] {
        let more = if cases.len() > NAMED { ", ..." } else { "" };
        let named: Vec<&str> = cases.iter().take(NAMED).map(String::as_str).collect();
        let list = if named.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
        ui.out(&format!("{what}: {}{list}", cases.len()));
    }
}

/// The cases that went wrong, or all.
fn cases_of(ui: &Ui, report: &CalibrationReport, all: bool) -> io::Result<()> {
    let mut table = ui.table(&["case", "expected", "found", "confidence", "expected path", "path", "title"]);
    let (mut listed, mut more) = (0, 0);
    report.cases.each(|case| {
        let of = |key: &str| plain(&case[key]);
        let expected = of("expected_defect_type");
        let right = (expected.is_empty() || expected == of("actual_defect_type"))
            && (case["expected_path"].as_array().is_none_or(Vec::is_empty) || case["expected_path"] == case["actual_path"]);
        if !all && right {
            return;
        }
        if listed == LISTED && !all {
            more += 1;
            return;
        }
        listed += 1;
        let keys =
            ["case_id", "expected_defect_type", "actual_defect_type", "confidence", "expected_path", "actual_path", "title"];
        table.row(keys.map(of));
    })?;
    if listed > 0 {
        ui.out(if all { "\nCases" } else { "\nCases that differ from what was expected" });
        ui.out(&table.text());
    }
    if more > 0 {
        ui.out(&format!("... and {more} more; -v lists all cases"));
    }
    Ok(())
}

/// A test per metric that is judged.
fn suite(report: &CalibrationReport) -> JunitSuite {
    let case = |metric: &MetricResult| {
        let value = metric.value.map_or_else(|| "n/a".to_owned(), shown);
        let notes = match metric.pass {
            None => vec![JunitNote {
                element: "skipped",
                attributes: vec![("message", "not applicable".to_owned())],
                text: String::new(),
            }],
            Some(true) => Vec::new(),
            Some(false) => vec![JunitNote::failure(&format!("{} is {value}, not {}", metric.name, bar(metric)), String::new())],
        };
        JunitCase { name: format!("{} {}", metric.id, metric.name), notes, ..JunitCase::default() }
    };
    let cases = report.metrics.iter().filter(|metric| metric.bar.is_some()).map(case).collect();
    JunitSuite { name: report.scenario.clone(), cases, ..JunitSuite::default() }
}
