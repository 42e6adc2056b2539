//! Output of `asterisk test`: results and coverage.

use super::junit::{self, JunitCase, JunitNote, JunitSuite};
use crate::ui::{Ui, plain};
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_script_tests::{
    Coverage, CoverageKind, CoverageShare, FileCoverage, ListingLine, TestFailure, TestResult, TestResults, listing,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Prints failed tests with their diagnostics, a line per file, the coverage if there is one, and a summary.
pub(super) fn show(ui: &Ui, results: &TestResults, whole: bool) {
    failures(ui, results);
    for tests in results.tests.chunk_by(|a, b| a.file == b.file) {
        let (file, count) = (&tests[0].file, tests.len());
        let failed = tests.iter().filter(|test| !test.passed()).count();
        let rows: usize = tests.iter().map(|test| test.rows).sum();
        let rows = if rows > 0 { format!(", {}", counted(rows, "row", "rows")) } else { String::new() };
        let how = if failed > 0 { format!("{failed} FAILED") } else { "ok".to_owned() };
        ui.out(&plain(&format!("{:<44} {:>3} {}{rows}: {how}", file, count, if count == 1 { "test" } else { "tests" })));
    }
    if let Some(coverage) = &results.coverage {
        show_coverage(ui, coverage, whole);
    }
    let took = if results.seconds > 0.0 { format!(" in {:.2} s", results.seconds) } else { String::new() };
    let (passed, failed) = (results.passed(), results.failed());
    let failed = if failed > 0 { format!(", {failed} FAILED") } else { String::new() };
    ui.out(&format!("\n{}: {passed} passed{failed}{took}", counted(results.tests.len(), "test", "tests")));
}

/// Prints how many files of tests are the project's own, and where, and how many are bundled. `scripts` is the directory that
/// overrides the bundled ones.
pub(super) fn origins(ui: &Ui, results: &TestResults, scripts: Option<&Path>) {
    let files: BTreeSet<&str> = results.tests.iter().map(|test| test.file.as_str()).collect();
    let (own, bundled): (Vec<&str>, Vec<&str>) =
        files.into_iter().partition(|file| scripts.is_some_and(|dir| dir.join(file).is_file()));
    let here = ui.environment().directory();
    let dir = scripts.map_or(String::new(), |dir| dir.strip_prefix(here).unwrap_or(dir).display().to_string());
    let of =
        |files: &[&str], whose: String| (!files.is_empty()).then(|| format!("{} {whose}", counted(files.len(), "file", "files")));
    let parts = [of(&own, format!("in {dir}")), of(&bundled, "bundled".to_owned())];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let all = if parts.is_empty() { "no files".to_owned() } else { parts.join(", ") };
    ui.note(&plain(&format!("tests: {all}")));
}

/// Prints the diagnostics of failed tests.
pub(super) fn failures(ui: &Ui, results: &TestResults) {
    for test in results.tests.iter().filter(|test| !test.passed()) {
        if test.failed_rows() > 0 {
            ui.note(&plain(&format!("FAILED {}: {} of {}", test.id(), test.failed_rows(), counted(test.rows, "row", "rows"))));
        } else {
            ui.note(&plain(&format!("FAILED {}", test.id())));
        }
        for failed in &test.failures {
            if let Some((_, index, values)) = &failed.row {
                ui.note(&plain(&format!("  row {index}: {values}")));
            }
            ui.diagnostic(&failed.diagnostic);
        }
    }
}

fn of(share: CoverageShare) -> String {
    if share.total == 0 { "-".to_owned() } else { format!("{}/{}", share.covered, share.total) }
}

fn show_coverage(ui: &Ui, coverage: &Coverage, whole: bool) {
    for file in coverage.files.iter().filter(|file| whole || !file.gaps().is_empty()) {
        ui.out(&plain(&format!("\n{}", file.name)));
        let width = file.source.text().lines().count().to_string().len();
        for line in listing(file, whole) {
            ui.out(plain(&listed(&line, width, whole)).trim_end());
        }
    }
    ui.out("");
    let mut table = ui.table(&["script or function", "covered", "branches", "conditions", "results", "calls"]);
    for file in coverage.files.iter().filter(|file| !file.functions.is_empty()) {
        let called = file.functions.iter().filter(|function| function.calls > 0).count();
        let called = format!("{called}/{}", file.functions.len());
        table.row([
            plain(&file.name),
            percent(file.share()),
            of(file.share_of(CoverageKind::Branch)),
            of(file.share_of(CoverageKind::Condition)),
            of(file.share_of(CoverageKind::Result)),
            called,
        ]);
        for function in file.functions.iter().filter(|function| whole || !function.gaps().is_empty()) {
            table.row([
                plain(&format!("  {}", function.name)),
                percent(function.share()),
                of(function.share_of(CoverageKind::Branch)),
                of(function.share_of(CoverageKind::Condition)),
                of(function.share_of(CoverageKind::Result)),
                function.calls.to_string(),
            ]);
        }
    }
    table.row([
        "all".to_owned(),
        percent(coverage.share()),
        of(coverage.share_of(CoverageKind::Branch)),
        of(coverage.share_of(CoverageKind::Condition)),
        of(coverage.share_of(CoverageKind::Result)),
        of(coverage.called()),
    ]);
    ui.out(&table.text());
}

fn percent(share: CoverageShare) -> String {
    if share.total == 0 { "-".to_owned() } else { format!("{:.1} %", share.percent()) }
}

fn listed(line: &ListingLine, width: usize, whole: bool) -> String {
    let count = |count: Option<u32>| match count {
        _ if !whole => String::new(),
        Some(count) => format!(" {count:>6}"),
        None => "       ".to_owned(),
    };
    match line {
        ListingLine::Line(number, times, text) => format!(" {number:>width$}{} | {}", count(*times), text.replace('\t', " ")),
        ListingLine::Mark(column, wide, what) => {
            format!(" {:>width$}{} | {}{} {what}", "", count(None), " ".repeat(*column), "^".repeat(*wide))
        }
        ListingLine::Skip => format!(" {:>width$}{} .", "", count(None)),
    }
}

/// The coverage as JSON.
pub(super) fn coverage_json(coverage: &Coverage) -> Value {
    let kinds = |share: &dyn Fn(CoverageKind) -> CoverageShare| json!({ "branches": share(CoverageKind::Branch), "conditions": share(CoverageKind::Condition), "results": share(CoverageKind::Result) });
    let file = |file: &FileCoverage| {
        let functions: Vec<Value> = file
            .functions
            .iter()
            .map(|function| {
                let mut all = kinds(&|kind| function.share_of(kind));
                (all["name"], all["line"], all["calls"]) = (json!(function.name), json!(function.line), json!(function.calls));
                all
            })
            .collect();
        let gaps: Vec<Value> = file
            .gaps()
            .iter()
            .map(|gap| {
                let (line, column) = file.source.line_column(gap.span.start);
                json!({ "line": line, "column": column, "text": file.source.slice(gap.span), "what": gap.what })
            })
            .collect();
        let mut all = kinds(&|kind| file.share_of(kind));
        (all["file"], all["path"]) = (json!(file.name), json!(file.path));
        (all["covered"], all["functions"], all["gaps"]) = (json!(file.share()), json!(functions), json!(gaps));
        all
    };
    let mut all = kinds(&|kind| coverage.share_of(kind));
    all["covered"] = json!(coverage.share());
    all["functions"] = json!(coverage.called());
    all["percent"] = json!((coverage.share().percent() * 10.0).round() / 10.0);
    all["files"] = coverage.files.iter().map(file).collect();
    all
}

/// `JUnit` XML: a suite per file, a test case per test, a failure per failed row.
pub(super) fn junit(results: &TestResults) -> String {
    let failure = |failed: &TestFailure| {
        let row = failed.row.as_ref().map_or(String::new(), |(_, index, values)| format!("row {index}, {values}: "));
        JunitNote::failure(&format!("{row}{}", failed.diagnostic.message), places(&failed.diagnostic))
    };
    let case = |test: &TestResult| JunitCase {
        name: test.name.clone(),
        line: Some(test.place.as_ref().map_or(1, |(source, span)| source.line_column(span.start).0)),
        seconds: test.seconds,
        notes: test.failures.iter().map(failure).collect(),
    };
    let suite = |tests: &[TestResult]| JunitSuite {
        name: tests[0].file.clone(),
        seconds: tests.iter().map(|test| test.seconds).sum(),
        cases: tests.iter().map(case).collect(),
    };
    let suites: Vec<JunitSuite> = results.tests.chunk_by(|a, b| a.file == b.file).map(suite).collect();
    junit::write("asterisk test", &suites, results.seconds)
}

/// The locations and the help of a diagnostic, a line each.
fn places(diagnostic: &Diagnostic) -> String {
    let places = diagnostic.labels.iter().map(|label| {
        let (line, column) = label.source.line_column(label.span.start);
        let text = if label.text.is_empty() { String::new() } else { format!(": {}", label.text) };
        format!("{}:{line}:{column} `{}`{text}", label.source.name(), label.source.slice(label.span))
    });
    places.chain(diagnostic.help.clone()).collect::<Vec<_>>().join("\n")
}
