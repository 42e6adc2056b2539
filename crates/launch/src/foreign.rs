//! Unsupported formats: other tools' formats and files given by mistake, with advice for each.

use serde_json::Value;

/// A format that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnsupportedFormat {
    /// A description, as the end of "this is ...".
    pub(super) what: &'static str,
    /// Advice.
    pub(super) help: &'static str,
    /// The word by which it was recognised, for the label.
    pub(super) clue: &'static str,
}

impl UnsupportedFormat {
    /// The messages of a successful build without tests.
    pub(super) const BUILD: Self = Self { what: "messages of a successful cargo build", help: NOT_TESTS, clue: "reason" };
}

/// Advice for a test tool's own report.
const USE_JUNIT: &str = "pass a ReportPortal launch or the JUnit XML that the same tool can write";

/// Advice for a report on something other than tests.
const NOT_TESTS: &str = "this has no data about failed tests: pass a ReportPortal launch or JUnit XML";

/// Formats of JSON objects: the keys that one has; the first match counts.
const OBJECTS: [(&[&str], &str, &str); 16] = [
    (&["runs", "$schema"], "a SARIF report of a static analyser", NOT_TESTS),
    (&["runs", "version"], "a SARIF report of a static analyser", NOT_TESTS),
    (
        &["rust-suites", "test-count"],
        "a list of tests by nextest",
        "run the tests with a profile that has `junit.path` set and pass that file",
    ),
    (&["total_count", "workflow_runs"], "a list of GitHub Actions runs", NOT_TESTS),
    (&["errorCode", "message"], "an error response of the ReportPortal API", "retry with a valid token, project and launch id"),
    (&["error", "error_description"], "a refused login of the ReportPortal API", "retry with a valid token"),
    (&["rcas", "symptoms", "cases"], "a calibration scenario", "use it with `asterisk calibrate`"),
    (&["schema_version", "pipeline", "cases"], "a result of `asterisk run`", "pass the launch that the run was about"),
    (&["schema_version", "findings"], "a result of `asterisk lint`", NOT_TESTS),
    (&["schema_version"], "an output of this program", "pass a ReportPortal launch or JUnit XML"),
    (
        &["mode", "statistics", "uuid"],
        "a ReportPortal launch without its items",
        "pass its failed items: the API's `item?filter.eq.launchId=ID&filter.in.status=FAILED`",
    ),
    (&["startTime", "statistics", "uuid", "type"], "a single ReportPortal item", "pass the whole page of items"),
    (&["openapi", "paths"], "an OpenAPI description", NOT_TESTS),
    (&["name", "dependencies", "version"], "a package manifest", NOT_TESTS),
    (&["vulnerabilities"], "a report of a vulnerability scanner", NOT_TESTS),
    (&["coverage"], "a coverage report", NOT_TESTS),
];

/// Formats of JSON lists: the keys that the elements have.
const ELEMENTS: [(&[&str], &str, &str); 5] = [
    (&["check_name", "fingerprint"], "a Code Climate report", NOT_TESTS),
    (&["historyId", "statusDetails"], "a list of Allure results", "pass the directory of its `*-result.json` files"),
    (&["filePath", "messages"], "an ESLint report", NOT_TESTS),
    (&["name", "matchedStatuses"], "a list of Allure's categories", "pass the directory of its `*-result.json` files"),
    (&["mode", "statistics", "uuid"], "a list of ReportPortal launches", "pass one launch with its failed items"),
];

/// Formats of XML documents, by the root element.
const ROOTS: [(&str, &str, &str); 7] = [
    ("html", "a web page", "this is often a login or error page saved in place of the file: fetch it again"),
    ("testExecutions", "a SonarQube test report", USE_JUNIT),
    ("coverage", "a Cobertura coverage report", NOT_TESTS),
    ("report", "a JaCoCo coverage report", NOT_TESTS),
    ("checkstyle", "a Checkstyle report", NOT_TESTS),
    ("project", "a Maven or Ant project", NOT_TESTS),
    ("feed", "a feed", NOT_TESTS),
];

/// Formats of texts, by the start of a line.
const LINES: [(&str, &str, &str); 6] = [
    ("diff --git", "a patch", NOT_TESTS),
    ("pipeline:", "a pipeline in YAML", "pass it as the PIPELINE argument, and a launch as `--input`"),
    ("---", "a YAML file", "pass a ReportPortal launch in JSON or JUnit XML"),
    ("version https://git-lfs", "a Git LFS pointer", "fetch the file itself: `git lfs pull`"),
    ("Traceback (most recent call last)", "a stack trace", USE_JUNIT),
    ("#!/", "a script", NOT_TESTS),
];

/// Binary formats, by their first bytes.
const MAGIC: [(&[u8], &str, &str); 12] = [
    (b"\x1f\x8b", "a gzip file", "unpack it first"),
    (b"PK\x03\x04", "a zip archive", "unpack it and pass the launch in it"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it first"),
    (b"\xfd7zXZ", "an xz file", "unpack it first"),
    (b"BZh", "a bzip2 file", "unpack it first"),
    (b"SQLite format 3", "an SQLite database", "to show what a store holds use `asterisk status`"),
    (b"%PDF", "a PDF", NOT_TESTS),
    (b"\x89PNG", "an image", NOT_TESTS),
    (b"\xff\xd8\xff", "an image", NOT_TESTS),
    (b"GIF8", "an image", NOT_TESTS),
    (b"\x7fELF", "a program", NOT_TESTS),
    (b"MZ", "a program", NOT_TESTS),
];

fn has_all(value: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| value.get(key).is_some())
}

fn find<const N: usize>(
    table: &[(&'static [&'static str], &'static str, &'static str); N],
    value: &Value,
) -> Option<UnsupportedFormat> {
    let found = table.iter().find(|(keys, ..)| has_all(value, keys));
    found.map(|&(keys, what, help)| UnsupportedFormat { what, help, clue: keys[0] })
}

/// Recognises a JSON object.
pub(super) fn object(value: &Value) -> Option<UnsupportedFormat> {
    find(&OBJECTS, value)
}

/// Recognises a list by one of its elements.
pub(super) fn element(value: &Value) -> Option<UnsupportedFormat> {
    find(&ELEMENTS, value).or_else(|| object(value))
}

/// Recognises an XML document by its root element.
pub(super) fn root(name: &str) -> Option<UnsupportedFormat> {
    let found = ROOTS.iter().find(|(root, ..)| root.eq_ignore_ascii_case(name));
    found.map(|&(clue, what, help)| UnsupportedFormat { what, help, clue })
}

/// Recognises a text by its first 200 lines.
pub(super) fn text(text: &str) -> Option<UnsupportedFormat> {
    text.lines().take(200).find_map(|line| {
        let found = LINES.iter().find(|(start, ..)| line.starts_with(start));
        found.map(|&(clue, what, help)| UnsupportedFormat { what, help, clue })
    })
}

/// Recognises a binary format: description and advice.
pub(super) fn bytes(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)).map(|&(_, what, help)| (what, help))
}
