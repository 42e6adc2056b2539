//! Detects the format of a text by its content. Errors name the format it looks like.

use super::foreign::{self, UnsupportedFormat};
use super::formats::{self, LaunchFormat};
use super::head_keys::HeadKeys;
use super::json_span;
use asterisk_diag::{Code, Diagnostic, Source, Span};
use json_span::JsonStep;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use std::ptr;

/// The supported formats, as the last words of an error.
pub(super) const WANTED: &str = "pass a ReportPortal launch (JSON with `run_id`, `name` and `failure_list`), ReportPortal items, JUnit XML, or \
     results of Visual Studio (TRX), NUnit, xUnit.net, TestNG, Robot Framework, Allure, pytest, Jest, Vitest, Mocha, Playwright, TestCafe, \
     Cucumber, Karate, RSpec, googletest, Catch2, CTest, Bazel, Xcode, Newman, k6, CTRF, `go test -json`, TAP or libtest, or the log of a CI job";

/// The format is detected from this many bytes at the start of an input.
const HEAD: usize = 64 << 10;

/// How many lines are searched for an event or a test point.
const MAX_LINES: usize = 500;

/// The maximum number of attributes of a root element that are considered.
const MAX_ATTRIBUTES: usize = 100;

/// Detects the format by the first bytes: the root of XML, the keys of JSON, or the first line that is an event or a test point.
pub(super) fn of_head(head: &[u8]) -> Option<LaunchFormat> {
    let other = match head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start().first() {
        Some(b'<') => Some(formats::OTHER_XML),
        Some(b'{' | b'[') => Some(formats::OTHER_JSON),
        _ => None,
    };
    by_signs(head).or(other)
}

/// The format that has a sign in the first bytes.
pub(super) fn by_signs(head: &[u8]) -> Option<LaunchFormat> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = &head[..head.len().min(HEAD)];
    let by_keys = || formats::of_keys(&HeadKeys::read(head));
    match head.trim_ascii_start().first()? {
        b'<' => of_root(head),
        b'{' => of_line(first_text_line(head)).or_else(by_keys),
        b'[' => of_text(head).or_else(by_keys),
        _ => of_text(head),
    }
}

/// The format of a text that is neither XML nor an object.
fn of_text(head: &[u8]) -> Option<LaunchFormat> {
    let text = String::from_utf8_lossy(head);
    if super::job_log::is_of_system(&text) {
        return Some(formats::JOB_LOG);
    }
    let is_output = || text.lines().take(MAX_LINES).any(super::job_log::is_output);
    of_lines(head).or_else(|| is_output().then_some(formats::JOB_LOG))
}

fn first_text_line(head: &[u8]) -> &[u8] {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The format of the first line that is an event of a test tool or part of TAP.
fn of_lines(head: &[u8]) -> Option<LaunchFormat> {
    head.split(|byte| *byte == b'\n').take(MAX_LINES).find_map(|line| of_line(line.trim_ascii()))
}

/// The format that has this line.
fn of_line(line: &[u8]) -> Option<LaunchFormat> {
    if line.starts_with(b"{") {
        return formats::of_event(&serde_json::from_slice(line).ok()?);
    }
    formats::of_line(line)
}

/// The format of XML by its root element.
fn of_root(head: &[u8]) -> Option<LaunchFormat> {
    let mut reader = Reader::from_reader(head);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(root) | Event::Empty(root)) => {
                let attributes = root.attributes().flatten().map(|attribute| attribute.key.local_name().as_ref().to_owned());
                let attributes: Vec<String> = attributes.take(MAX_ATTRIBUTES).collect();
                return formats::of_root(root.local_name().as_ref(), &attributes);
            }
            Ok(Event::Eof) | Err(_) => return None,
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
        Some(format) if ptr::eq(format, formats::OTHER_XML) => refuse_web_page(source, body).map_or(Ok(format), Err),
        Some(format) => Ok(format),
        None if body.lines().any(super::job_log::is_output) => Ok(formats::JOB_LOG),
        None => Err(plain_text(source)),
    }
}

/// Whether a text may become one of a known format after its head: the log of a job, in which nothing failed yet.
pub(super) fn may_be_a_log(head: &Source) -> bool {
    !head.text().contains('\0') && foreign::bytes(head.text().as_bytes()).is_none() && foreign::text(head.text()).is_none()
}

/// The error for a text of no known format.
pub(super) fn plain_text(source: &Source) -> Diagnostic {
    let text = source.text();
    let known = foreign::text(text.trim_start_matches('\u{feff}').trim_start());
    let span = known.and_then(|known| text.find(known.clue).map(|at| Span::new(at, at + known.clue.len())));
    let (what, help) = known.map_or(("plain text", WANTED), |known| (known.what, known.help));
    refuse(source, span.unwrap_or_else(|| first_line(text)), what, help)
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
