//! Results in the form of JUnit: a suite a file, a test case a test; rows that failed are told in their test.

use super::TestResults;
use crate::diag::Diagnostic;
use std::fmt::Write as _;

/// The XML.
pub fn junit(results: &TestResults) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let seconds = |seconds: f64| if seconds > 0.0 { format!(" time=\"{seconds:.3}\"") } else { String::new() };
    let _ = writeln!(
        out,
        "<testsuites name=\"asterisk test\" tests=\"{}\" failures=\"{}\"{}>",
        results.tests.len(),
        results.failed(),
        seconds(results.seconds)
    );
    let mut rest = &results.tests[..];
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|test| test.file == first.file).count();
        let (tests, after) = rest.split_at(count);
        rest = after;
        let failed = tests.iter().filter(|test| !test.passed()).count();
        let file = escape(&first.file);
        let took: f64 = tests.iter().map(|test| test.seconds).sum();
        let _ = writeln!(out, "  <testsuite name=\"{file}\" tests=\"{count}\" failures=\"{failed}\"{}>", seconds(took));
        for test in tests {
            let line = test.place.as_ref().map_or(1, |(source, span)| source.line_column(span.start).0);
            let head = format!(
                "    <testcase name=\"{}\" classname=\"{file}\" file=\"{file}\" line=\"{line}\"{}",
                escape(&test.name),
                seconds(test.seconds)
            );
            if test.passed() {
                let _ = writeln!(out, "{head}/>");
                continue;
            }
            let _ = writeln!(out, "{head}>");
            for failure in &test.failures {
                let row = failure.row.as_ref().map_or(String::new(), |(_, index, values)| format!("row {index}, {values}: "));
                let message = escape(&format!("{row}{}", failure.diagnostic.message));
                let _ = writeln!(out, "      <failure message=\"{message}\">{}</failure>", escape(&told(&failure.diagnostic)));
            }
            out.push_str("    </testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// The places and the help of a diagnostic, a line each.
fn told(diagnostic: &Diagnostic) -> String {
    let places = diagnostic.labels.iter().map(|label| {
        let (line, column) = label.source.line_column(label.span.start);
        let text = if label.text.is_empty() { String::new() } else { format!(": {}", label.text) };
        format!("{}:{line}:{column} `{}`{text}", label.source.name(), label.source.slice(label.span))
    });
    places.chain(diagnostic.help.clone()).collect::<Vec<_>>().join("\n")
}

/// A text in an attribute or an element. What XML cannot hold at all is left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            '\t' => out.push(' '),
            ch if ch.is_control() || matches!(ch, '\u{fffe}' | '\u{ffff}') => {}
            ch => out.push(ch),
        }
    }
    out
}
