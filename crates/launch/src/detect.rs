//! Detects the format of a text by its content. Errors name the format it looks like.

use super::foreign::{self, UnsupportedFormat};
use super::json_span;
use asterisk_diag::{Code, Diagnostic, Source, Span};
use json_span::JsonStep;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// The supported formats, as the last words of an error.
pub(super) const WANTED: &str = "pass a ReportPortal launch (JSON with `run_id`, `name` and `failure_list`), ReportPortal items, JUnit XML, or \
     results of Visual Studio (TRX), NUnit, xUnit.net, TestNG, Robot Framework, Allure, `go test -json`, TAP or libtest";

/// The format is detected from this many bytes at the start of an input.
const HEAD: usize = 64 << 10;

/// How many lines are searched for an event or a test point.
const MAX_LINES: usize = 500;

/// A supported format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaunchFormat {
    /// A ReportPortal launch, page or list; also any other JSON.
    ReportPortal,
    /// JUnit XML; also any other XML.
    Junit,
    /// Visual Studio.
    Trx,
    Nunit2,
    Nunit3,
    Xunit,
    Testng,
    Robot,
    /// One file of a directory of Allure results.
    Allure,
    /// `go test -json`.
    GoTest,
    /// Rust's test harness.
    Libtest,
    Tap,
    /// What a CI job printed.
    JobLog,
}

impl LaunchFormat {
    /// Its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReportPortal => "ReportPortal",
            Self::Junit => "JUnit XML",
            Self::Trx => "TRX",
            Self::Nunit2 => "NUnit 2",
            Self::Nunit3 => "NUnit 3",
            Self::Xunit => "xUnit.net",
            Self::Testng => "TestNG",
            Self::Robot => "Robot Framework",
            Self::Allure => "Allure",
            Self::GoTest => "go test -json",
            Self::Libtest => "libtest JSON",
            Self::Tap => "TAP",
            Self::JobLog => super::job_log::FORMAT,
        }
    }
}

/// Detects the format by the first bytes: the root of XML, the keys of JSON, or the first line that is an event or a test point.
pub(super) fn of_head(head: &[u8]) -> Option<LaunchFormat> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = &head[..head.len().min(HEAD)];
    match head.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'<') => Some(of_root(head)),
        Some(b'{') => Some(of_line(first_text_line(head)).unwrap_or_else(|| of_keys(head))),
        Some(b'[') => Some(of_text(head).unwrap_or(LaunchFormat::ReportPortal)),
        Some(_) => of_text(head),
        None => None,
    }
}

/// The format of a text that is neither XML nor an object.
fn of_text(head: &[u8]) -> Option<LaunchFormat> {
    let text = String::from_utf8_lossy(head);
    if super::job_log::is_of_system(&text) {
        return Some(LaunchFormat::JobLog);
    }
    let is_output = || text.lines().take(MAX_LINES).any(super::job_log::is_output);
    of_lines(head).or_else(|| is_output().then_some(LaunchFormat::JobLog))
}

fn first_text_line(head: &[u8]) -> &[u8] {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The format of the first line that is an event of a test tool or part of TAP.
fn of_lines(head: &[u8]) -> Option<LaunchFormat> {
    head.split(|byte| *byte == b'\n').take(MAX_LINES).find_map(|line| {
        let line = line.trim_ascii();
        if line.starts_with(b"{") { of_line(line) } else { is_tap(line).then_some(LaunchFormat::Tap) }
    })
}

/// Whether a line is a TAP version, a plan or a numbered test point.
fn is_tap(line: &[u8]) -> bool {
    let number = |text: &[u8]| text.first().is_some_and(u8::is_ascii_digit);
    let point = line.strip_prefix(b"not ok ").or_else(|| line.strip_prefix(b"ok "));
    let point = point.is_some_and(|rest| {
        let word = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
        !word.is_empty() && word.iter().all(u8::is_ascii_digit) || rest.starts_with(b"- ")
    });
    let plan = line.strip_prefix(b"1..").is_some_and(|rest| {
        let rest = rest.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        number(rest) && rest.iter().all(u8::is_ascii_digit)
    });
    point || plan || line.strip_prefix(b"TAP version ").is_some_and(number)
}

/// The format that has this line of JSON as an event.
fn of_line(line: &[u8]) -> Option<LaunchFormat> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let has = |key| value.get(key).is_some_and(Value::is_string);
    if has("Action") && (has("Package") || has("ImportPath")) {
        return Some(LaunchFormat::GoTest);
    }
    let is_event = matches!(value.get("type")?.as_str()?, "suite" | "test" | "bench" | "report") && has("event");
    let is_event = is_event || value.get("type")?.as_str()? == "bench" && has("name") && value.get("median").is_some();
    is_event.then_some(LaunchFormat::Libtest)
}

/// The format of a JSON object, by the keys in its head.
fn of_keys(head: &[u8]) -> LaunchFormat {
    let mut keys = HeadKeys::default();
    // A large object is cut off at the end of the head.
    drop(DeserializeSeed::deserialize(&mut keys, &mut serde_json::Deserializer::from_slice(head)));
    let has = |names: &[&str]| names.iter().any(|name| keys.0.iter().any(|key| key == name));
    if has(&["failure_list", "startTime", "content", "launchId"]) {
        return LaunchFormat::ReportPortal;
    }
    // Messages of a build precede the events of its tests.
    let is_build = has(&["reason"]) && has(&["package_id", "success"]);
    let is_result = has(&["uuid"])
        && has(&["historyId", "statusDetails", "stage", "labels", "steps"])
        && has(&["name", "fullName", "status"]);
    let is_container = has(&["children"]) && has(&["befores", "afters"]);
    let is_executor =
        has(&["buildName", "buildOrder"]) && has(&["name"]) && has(&["type", "reportUrl", "reportName", "buildUrl"]);
    match (is_build, is_result || is_container || is_executor) {
        (true, _) => LaunchFormat::Libtest,
        (_, true) => LaunchFormat::Allure,
        _ => LaunchFormat::ReportPortal,
    }
}

/// The keys of an object that may be cut off.
#[derive(Default)]
struct HeadKeys(Vec<String>);

/// The maximum number of keys that are considered.
const MAX_KEYS: usize = 100;

impl<'de> DeserializeSeed<'de> for &mut HeadKeys {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut HeadKeys {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if self.0.len() < MAX_KEYS {
                self.0.push(key);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The format of XML by its root element.
fn of_root(head: &[u8]) -> LaunchFormat {
    let mut reader = Reader::from_reader(head);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(root) | Event::Empty(root)) => {
                let attributes = root.attributes().flatten().map(|attribute| attribute.key.local_name().as_ref().to_owned());
                let attributes: Vec<String> = attributes.take(MAX_KEYS).collect();
                let has = |name: &str| attributes.iter().any(|attribute| attribute == name);
                return match root.local_name().as_ref() {
                    "TestRun" => LaunchFormat::Trx,
                    "test-run" => LaunchFormat::Nunit3,
                    "test-results" => LaunchFormat::Nunit2,
                    "assemblies" => LaunchFormat::Xunit,
                    // Maven also has assemblies.
                    "assembly" if has("total") || has("run-date") || has("test-framework") => LaunchFormat::Xunit,
                    "testng-results" => LaunchFormat::Testng,
                    "robot" => LaunchFormat::Robot,
                    _ => LaunchFormat::Junit,
                };
            }
            Ok(Event::DocType(_) | Event::Eof) | Err(_) => return LaunchFormat::Junit,
            Ok(_) => {}
        }
    }
}

/// Detects the format of a text; the error names what it looks like instead.
pub(super) fn detect(source: &Source) -> Result<LaunchFormat, Diagnostic> {
    let text = source.text();
    let body = text.trim_start_matches('\u{feff}').trim_start();
    if body.is_empty() {
        return Err(empty(source));
    }
    if let Some((what, help)) = foreign::bytes(text.as_bytes()) {
        return Err(refuse(source, first_line(text), what, help));
    }
    if let Some(at) = text.find('\0') {
        return Err(refuse(source, Span::new(at, at + 1), "binary data", WANTED));
    }
    match of_head(body.as_bytes()) {
        Some(LaunchFormat::Junit) => refuse_web_page(source, body).map_or(Ok(LaunchFormat::Junit), Err),
        Some(format) => Ok(format),
        None if body.lines().any(super::job_log::is_output) => Ok(LaunchFormat::JobLog),
        None => {
            let known = foreign::text(body);
            let span = known.and_then(|known| text.find(known.clue).map(|at| Span::new(at, at + known.clue.len())));
            let (what, help) = known.map_or(("plain text", WANTED), |known| (known.what, known.help));
            Err(refuse(source, span.unwrap_or_else(|| first_line(text)), what, help))
        }
    }
}

/// The error for a web page, which is not XML.
fn refuse_web_page(source: &Source, body: &str) -> Option<Diagnostic> {
    let start = body.get(..15).unwrap_or(body).to_ascii_lowercase();
    let known = foreign::root("html").filter(|_| start.starts_with("<!doctype html") || start.starts_with("<html"))?;
    Some(refuse(source, first_line(source.text()), known.what, known.help))
}

/// The error for several JSON values, one per line: an unsupported log of events.
pub(super) fn json_lines(source: &Source, body: &str) -> Option<Diagnostic> {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    let first: Value = serde_json::from_str(lines.next()?).ok().filter(Value::is_object)?;
    serde_json::from_str::<Value>(lines.next()?).ok().filter(Value::is_object)?;
    let (what, help) = match foreign::object(&first) {
        Some(known) => (format!("a stream of JSON lines, the first {}", known.what), known.help),
        None => ("a stream of JSON lines".to_owned(), WANTED),
    };
    Some(refuse(source, first_line(source.text()), &what, help))
}

/// The error for an object without a list of items, unless it seems to be a launch that lacks its list.
pub(super) fn object(source: &Source, value: &Value) -> Option<Diagnostic> {
    if let Some(known) = foreign::object(value) {
        return Some(with_api_message(refuse(source, key(source, &[], known), known.what, known.help), value, known));
    }
    if value.get("run_id").is_some() || value.as_object().is_some_and(|map| map.keys().any(|key| key.contains("failure"))) {
        return None;
    }
    let span = json_span::locate(source.text(), &[]);
    let keys: Vec<String> =
        value.as_object().into_iter().flat_map(|map| map.keys()).take(6).map(|key| format!("`{key}`")).collect();
    let what = match keys.len() {
        0 => "an empty JSON object".to_owned(),
        _ => format!("a JSON object with {}", keys.join(", ")),
    };
    Some(refuse(source, span, &what, WANTED))
}

/// Adds the message of the API's error response.
fn with_api_message(diagnostic: Diagnostic, value: &Value, known: UnsupportedFormat) -> Diagnostic {
    let message = ["message", "error_description"].iter().find_map(|key| value.get(key)?.as_str());
    match message.filter(|_| known.what.contains("ReportPortal API")) {
        Some(message) => diagnostic.help(format!("the API responded: {}; {}", super::clean::clean(message), known.help)),
        None => diagnostic,
    }
}

/// The error for a list, by its first element.
pub(super) fn element(source: &Source, known: Option<UnsupportedFormat>) -> Diagnostic {
    let place = [JsonStep::Index(0)];
    if let Some(known) = known {
        return refuse(source, key(source, &place, known), known.what, known.help);
    }
    let help = format!("the elements of a list of items need `id`, `name` and `status`; {WANTED}");
    refuse(source, json_span::locate(source.text(), &place), "a JSON list of something other than test items", &help)
}

/// The span of the key by which a format was recognised.
pub(super) fn key(source: &Source, path: &[JsonStep<'_>], known: UnsupportedFormat) -> Span {
    json_span::locate_key(source.text(), path, known.clue)
}

/// The error for an empty text.
fn empty(source: &Source) -> Diagnostic {
    Diagnostic::error(Code::IngestEmpty, format!("{} is empty", source.name()))
        .label(source, Span::new(0, 0), "nothing here")
        .help(format!("the tool may have stopped before writing it; {WANTED}"))
}

/// The error for something that is not a launch.
pub(super) fn refuse(source: &Source, span: Span, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error(Code::IngestFormat, format!("{} is not a test report; it looks like {what}", source.name()))
        .label(source, span, format!("looks like {what}"))
        .help(help)
}

/// The span of the first non-blank line, at most 60 characters.
fn first_line(text: &str) -> Span {
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default().trim_end();
    let end = line.char_indices().nth(60).map_or(line.len(), |(at, _)| at);
    Span::new(start, start + end)
}
