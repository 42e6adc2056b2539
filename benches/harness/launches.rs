//! Large deterministic launches: failures of a few dozen kinds, each with its own numbers, as ReportPortal JSON and JUnit XML; the log of
//! a job.

#![allow(dead_code, reason = "not every bench uses everything")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Errors, with a placeholder for a number.
const ERRORS: [&str; 8] = [
    "AssertionError: expected <200> but was <{}>\n    at shop.checkout.TotalTest.adds(TotalTest.java:41)",
    "java.net.ConnectException: Connection refused: ledger:{}\n    at shop.net.Client.open(Client.java:88)",
    "panic: runtime error: index out of range [{}] with length 3\nmain.price(0x0)\n\t/src/price.go:17 +0x1d",
    "TimeoutError: waited {} ms for the banner",
    "KeyError: 'order_{}'\n  File \"shop/orders.py\", line 12, in total",
    "Error: page.goto: net::ERR_NAME_NOT_RESOLVED (try {})",
    "thread 'main' panicked at src/stock.rs:88:9: assertion failed: rows > {}",
    "OutOfMemoryError: could not reserve {} bytes",
];

/// A line of a log, with placeholders for numbers.
const LINE: &str = "2026-03-02T02:00:00.123Z INFO  worker step {} of request & response <{}> took 12 ms";

/// The next number of a fixed sequence.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// The error and the log of a failure, together about `bytes` long.
fn texts(state: &mut u64, bytes: usize) -> (String, String) {
    let number = next(state);
    let kind = usize::try_from(number % ERRORS.len() as u64).unwrap_or_default();
    let error = ERRORS[kind].replace("{}", &number.to_string());
    let mut log = String::new();
    while log.len() + error.len() < bytes {
        let (one, other) = (next(state), next(state));
        writeln!(log, "{}", LINE.replacen("{}", &one.to_string(), 1).replacen("{}", &other.to_string(), 1)).unwrap_or_default();
    }
    (error, log)
}

/// Writes a ReportPortal launch with the given number of failures, and texts of about the given size.
pub(crate) fn reportportal(path: &Path, failures: usize, bytes: usize) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write!(out, r#"{{"run_id": "1", "name": "large", "number": 1, "status": "FAILED", "failure_list": ["#)?;
    let mut state = 1;
    for index in 0..failures {
        let (error, log) = texts(&mut state, bytes);
        let item = serde_json::json!({
            "id": 1_000_000 + index, "uuid": format!("a1610fc6-8700-4814-9947-{index:012}"), "name": format!("adds up the totals of order {index}"),
            "type": "STEP", "status": "FAILED", "path": format!("7.{}", 1_000_000 + index), "launchId": 1,
            "startTime": 1_771_104_069_000_u64 + index as u64, "endTime": 1_771_104_070_000_u64 + index as u64,
            "attributes": [{"key": "ci-lane", "value": "nightly"}, {"key": "test-id", "value": format!("T-{index}")}],
            "pathNames": {"itemPaths": [{"id": 7, "name": "shop > checkout"}]},
            "statistics": {"executions": {"total": 1, "failed": 1}}, "issue": {"issueType": "ti001", "autoAnalyzed": false},
            "error_message": error, "log_snippet": log,
        });
        write!(out, "{}\n{item}", if index == 0 { "" } else { "," })?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

/// Writes a JUnit report with the given number of failures, and as many passed tests.
pub(crate) fn junit(path: &Path, failures: usize, bytes: usize) -> io::Result<()> {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&apos;");
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"large\">")?;
    let mut state = 1;
    for index in 0..failures {
        if index % 100 == 0 {
            let close = if index == 0 { "" } else { "</testsuite>\n" };
            writeln!(out, "{close}<testsuite name=\"shop.checkout.Suite{}\" timestamp=\"2026-03-02T02:00:00\">", index / 100)?;
        }
        let (error, log) = texts(&mut state, bytes);
        let class = format!("shop.checkout.Suite{}", index / 100);
        writeln!(out, "<testcase classname=\"{class}\" name=\"passes {index}\" time=\"0.001\"/>")?;
        let head = escape(error.lines().next().unwrap_or_default());
        writeln!(
            out,
            "<testcase classname=\"{class}\" name=\"adds up {index}\" time=\"0.123\"><failure type=\"Error\" message='{head}'>{}</failure><system-out><![CDATA[{log}]]></system-out></testcase>",
            escape(&error),
        )?;
    }
    writeln!(out, "</testsuite>\n</testsuites>")?;
    out.flush()
}

/// Lines that jobs print, with a placeholder for a number. None of them is a failure.
const PRINTED: [&str; 8] = [
    "   Compiling serde v1.0.{}",
    "[INFO] Downloading from central: https://repo.example.com/org/junit/junit-bom-5.{}.pom",
    "2026-05-04 10:11:12,123 DEBUG shop.orders.worker: order {} accepted, 3 lines, 0 errors",
    "tests/test_cart.py::test_total[{}] PASSED                                 [ 33%]",
    "\u{1b}[32m  \u{2713}\u{1b}[0m adds line {} to the basket (3 ms)",
    "test cart::tests::adds_{} ... ok",
    "  [{}/9200] Building CXX object src/CMakeFiles/shop.dir/cart.cpp.o",
    "",
];

/// Writes the log of a job of GitHub with one failure after this many lines.
pub(crate) fn job_log(path: &Path, lines: usize) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut state = 1;
    let mut line = |text: &str| writeln!(out, "2026-05-04T10:11:12.1234567Z {text}");
    ["Current runner version: '2.334.0'", "##[group]Run make test", "shell: /usr/bin/bash -e {0}", "##[endgroup]"]
        .into_iter()
        .try_for_each(&mut line)?;
    for _ in 0..lines {
        let number = next(&mut state);
        let kind = usize::try_from(number % PRINTED.len() as u64).unwrap_or_default();
        line(&PRINTED[kind].replace("{}", &number.to_string()))?;
    }
    [
        "src/cart.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "##[error]Process completed with exit code 2.",
    ]
    .into_iter()
    .try_for_each(&mut line)?;
    out.flush()
}
