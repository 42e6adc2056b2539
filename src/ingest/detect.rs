//! Which format a text is in, told by what stands in it; refusals say what it looks like instead.

use super::foreign::{self, UnsupportedFormat};
use super::json_span;
use crate::diag::{Diagnostic, Source, Span};
use json_span::JsonStep;
use serde_json::Value;

/// What every reader wants, as the last words of a refusal.
pub(super) const WANTED: &str =
    "give a ReportPortal launch (JSON with `run_id`, `name` and `failure_list`), ReportPortal items, or JUnit XML";

/// A family of formats, told by the first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputFamily {
    /// A ReportPortal launch, page or list.
    Json,
    /// JUnit XML.
    Xml,
}

/// The format of bytes that begin so, if it can be told at once: text with the first character of a JSON value or of XML.
pub(super) fn of_head(head: &[u8]) -> Option<InputFamily> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    match head.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => Some(InputFamily::Json),
        Some(b'<') => Some(InputFamily::Xml),
        _ => None,
    }
}

/// The format of a text.
pub(super) fn detect(source: &Source) -> Result<InputFamily, Diagnostic> {
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
        Some(InputFamily::Xml) => page_of_the_web(source, body).map_or(Ok(InputFamily::Xml), Err),
        Some(InputFamily::Json) => Ok(InputFamily::Json),
        None => {
            let known = foreign::text(body);
            let span = known.and_then(|known| text.find(known.clue).map(|at| Span::new(at, at + known.clue.len())));
            let (what, help) = known.map_or(("plain text", WANTED), |known| (known.what, known.help));
            Err(refuse(source, span.unwrap_or_else(|| first_line(text)), what, help))
        }
    }
}

/// The refusal of a web page, which is no XML.
fn page_of_the_web(source: &Source, body: &str) -> Option<Diagnostic> {
    let start = body.get(..15).unwrap_or(body).to_ascii_lowercase();
    let known = foreign::root("html").filter(|_| start.starts_with("<!doctype html") || start.starts_with("<html"))?;
    Some(refuse(source, first_line(source.text()), known.what, known.help))
}

/// Several JSON values, one a line, are a log of events: says which.
pub(super) fn json_lines(source: &Source, body: &str) -> Option<Diagnostic> {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty());
    let first: Value = serde_json::from_str(lines.next()?).ok().filter(Value::is_object)?;
    serde_json::from_str::<Value>(lines.next()?).ok().filter(Value::is_object)?;
    let (what, help) = match foreign::object(&first) {
        Some(known) if known.what.starts_with("an event of ") => (format!("a stream of events, each {}", known.what), known.help),
        Some(known) => (format!("a stream of JSON lines, the first {}", known.what), known.help),
        None => ("a stream of JSON lines".to_owned(), WANTED),
    };
    Some(refuse(source, first_line(source.text()), &what, help))
}

/// The refusal of an object that holds no list of items, unless it seems to be a launch that lacks its own.
pub(super) fn object(source: &Source, value: &Value) -> Option<Diagnostic> {
    if let Some(known) = foreign::object(value) {
        return Some(answer(refuse(source, key(source, &[], known), known.what, known.help), value, known));
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

/// What the API said when it refused is the most useful thing to pass on.
fn answer(diagnostic: Diagnostic, value: &Value, known: UnsupportedFormat) -> Diagnostic {
    let said = ["message", "error_description"].iter().find_map(|key| value.get(key)?.as_str());
    match said.filter(|_| known.what.contains("ReportPortal API")) {
        Some(said) => diagnostic.help(format!("it says: {}; {}", super::clean::clean(said), known.help)),
        None => diagnostic,
    }
}

/// The refusal of a list by its first element.
pub(super) fn element(source: &Source, known: Option<UnsupportedFormat>) -> Diagnostic {
    let place = [JsonStep::Index(0)];
    if let Some(known) = known {
        return refuse(source, key(source, &place, known), known.what, known.help);
    }
    let help = format!("the elements of a list of items need `id`, `name` and `status`; {WANTED}");
    refuse(source, json_span::locate(source.text(), &place), "a JSON list of something else than test items", &help)
}

/// The place of the key that gives a format away.
pub(super) fn key(source: &Source, path: &[JsonStep<'_>], known: UnsupportedFormat) -> Span {
    json_span::locate_key(source.text(), path, known.clue)
}

/// The refusal of a text with nothing in it.
fn empty(source: &Source) -> Diagnostic {
    Diagnostic::error("ingest/empty", format!("{} is empty", source.name()))
        .label(source, Span::new(0, 0), "nothing here")
        .help(format!("the tool that writes it may have stopped before it did; {WANTED}"))
}

/// The refusal of something that is no launch.
pub(super) fn refuse(source: &Source, span: Span, what: &str, help: &str) -> Diagnostic {
    Diagnostic::error("ingest/format", format!("{} is no launch: it looks like {what}", source.name()))
        .label(source, span, format!("looks like {what}"))
        .help(help)
}

/// The first line that shows something, or so much of it as fits a report.
fn first_line(text: &str) -> Span {
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default().trim_end();
    let end = line.char_indices().nth(60).map_or(line.len(), |(at, _)| at);
    Span::new(start, start + end)
}
