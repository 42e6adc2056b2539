//! The report as a self-contained page: metrics, confusion matrix, reliability curve, and a section per case with its verdict.

use super::markdown::{bar, word};
use super::report::CalibrationReport;
use super::scoreboard::{TableResult, plain};
use asterisk_diag::Diagnostic;
use asterisk_report as report;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;

/// The most cases with a section each; those that went wrong come first.
const SECTIONS: usize = 500;
/// The side of a curve, in units of its picture.
const SIDE: f64 = 200.0;
/// The largest and the smallest radius of a point.
const LARGEST: f64 = 12.0;
const SMALLEST: f64 = 3.0;

#[derive(Debug, Serialize)]
struct CalibrationPage<'a> {
    report: &'a Value,
    metrics: Vec<MetricRow>,
    tables: Vec<TableView>,
    cases: Vec<CaseSection>,
    /// The number of cases without a section.
    more: usize,
}

#[derive(Debug, Serialize)]
struct MetricRow {
    id: String,
    name: String,
    value: String,
    interval: String,
    held_out: String,
    bar: String,
    word: &'static str,
}

#[derive(Debug, Serialize)]
struct TableView {
    title: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Whether a row and a column of the same name meet in what is right.
    matrix: bool,
    points: Vec<CurvePoint>,
}

/// A point of a curve, in units of its picture.
#[derive(Debug, Serialize)]
struct CurvePoint {
    x: f64,
    y: f64,
    radius: f64,
    words: String,
}

#[derive(Debug, Serialize)]
struct CaseSection {
    id: String,
    right: Option<bool>,
    /// The truth and the result, by name.
    fields: BTreeMap<&'static str, String>,
    title: String,
    summary: String,
    reasons: Value,
    alternatives: Value,
}

/// Renders the report as an HTML page.
pub fn page(report: &CalibrationReport) -> io::Result<Result<String, Box<Diagnostic>>> {
    let number = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3}"));
    let metrics = report.metrics.iter().map(|metric| MetricRow {
        id: metric.id.clone(),
        name: metric.name.replace('_', " "),
        value: number(metric.value),
        interval: metric.interval.map_or_else(String::new, |[least, most]| format!("{least:.3} to {most:.3}")),
        held_out: metric.held_out.map_or_else(String::new, |value| number(Some(value))),
        bar: bar(metric),
        word: word(metric),
    });
    let (mut wrong, mut others, mut all) = (Vec::new(), Vec::new(), 0);
    report.cases.each(|case| {
        all += 1;
        let list = if case["right"] == false { &mut wrong } else { &mut others };
        if list.len() < SECTIONS {
            list.push(section(case));
        }
    })?;
    wrong.extend(others);
    wrong.truncate(SECTIONS);
    // Its cases are those of the sections.
    let brief = serde_json::json!({
        "scenario": report.scenario, "description": report.description, "pipeline": report.pipeline, "domain": report.domain,
        "scorecard": report.scorecard, "via": report.via, "runs": report.runs, "scored": report.scored,
        "held_out": report.held_out, "pass": report.pass, "notes": report.notes, "left_out": report.left_out,
    });
    let page = CalibrationPage {
        report: &brief,
        metrics: metrics.collect(),
        tables: report.tables.iter().filter(|table| !table.rows.is_empty()).map(table).collect(),
        more: all - wrong.len(),
        cases: wrong,
    };
    Ok(report::page(include_str!("page.html"), &page))
}

fn table(table: &TableResult) -> TableView {
    let (header, rows) = table.shown();
    let points = table.points();
    let most = points.iter().map(|[_, _, cases]| *cases).fold(1.0, f64::max);
    let point = |[x, y, cases]: [f64; 3]| CurvePoint {
        x: x.clamp(0.0, 1.0) * SIDE,
        y: (1.0 - y.clamp(0.0, 1.0)) * SIDE,
        radius: SMALLEST + (LARGEST - SMALLEST) * (cases / most).sqrt(),
        words: format!("{x:.2}: {y:.2} of {cases:.0}"),
    };
    let points = points.into_iter().map(point).collect();
    TableView { title: table.title.clone(), header, rows, matrix: !table.matrix.is_empty(), points }
}

fn section(case: &Value) -> CaseSection {
    let of = |key: &str| plain(&case[key]);
    let fields = [
        ("expected defect", "expected_defect_type"),
        ("found defect", "actual_defect_type"),
        ("confidence", "confidence"),
        ("component", "actual_component"),
        ("expected path", "expected_path"),
        ("path", "actual_path"),
        ("memory", "memory"),
        ("run", "run"),
    ];
    let fields = fields.into_iter().map(|(name, key)| (name, of(key))).filter(|(_, value)| !value.is_empty()).collect();
    CaseSection {
        id: of("case_id"),
        right: case["right"].as_bool(),
        fields,
        title: of("title"),
        summary: of("summary"),
        reasons: case["reasons"].clone(),
        alternatives: case["alternatives"].clone(),
    }
}
