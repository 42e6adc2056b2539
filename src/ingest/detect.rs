//! Which format a text is in, told by what stands in it; refusals say what it looks like instead.

use super::foreign::{self, Foreign};
use super::{MAX_BYTES, json_span, xml};
use crate::diag::{Diagnostic, Source, Span};
use json_span::Step;
use serde_json::Value;

/// What every reader wants, as the last words of a refusal.
const WANTED: &str =
    "give a ReportPortal launch (JSON with `run_id`, `name` and `failure_list`), ReportPortal items, or JUnit XML";

/// A format that is read, with what was read of it on the way.
pub(super) enum Format {
    /// An object with a `failure_list`.
    ReportPortalLaunch(Value),
    /// A page of items as the API answers it: `{content: [...], page}`.
    ReportPortalPage(Value),
    /// A bare list of items.
    ReportPortalItems(Value),
    /// XML with `testsuites` or `testsuite` as its root.
    Junit,
}

/// The format of a text.
pub(super) fn detect(source: &Source) -> Result<Format, Diagnostic> {
    let text = source.text();
    if text.len() > MAX_BYTES {
        let message = format!("{} has {} MiB; a launch may have {}", source.name(), text.len() >> 20, MAX_BYTES >> 20);
        return Err(Diagnostic::error("ingest/too-large", message)
            .label(source, first_line(text), "starts here")
            .help("give the failed items only, without attachments"));
    }
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
    match body.as_bytes()[0] {
        b'{' | b'[' => json(source, body),
        b'<' => markup(source, body),
        _ => {
            let known = foreign::text(body);
            let span = known.and_then(|known| text.find(known.clue).map(|at| Span::new(at, at + known.clue.len())));
            let (what, help) = known.map_or(("plain text", WANTED), |known| (known.what, known.help));
            Err(refuse(source, span.unwrap_or_else(|| first_line(text)), what, help))
        }
    }
}

/// Which JSON it is.
fn json(source: &Source, body: &str) -> Result<Format, Diagnostic> {
    let value = match json_span::parse(source) {
        Ok(value) => value,
        Err(error) => return Err(json_lines(source, body).unwrap_or(error)),
    };
    match &value {
        Value::Object(_) => object(source, value),
        _ => list(source, value),
    }
}

/// Several JSON values, one a line, are a log of events: says which.
fn json_lines(source: &Source, body: &str) -> Option<Diagnostic> {
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

fn object(source: &Source, value: Value) -> Result<Format, Diagnostic> {
    if value.get("failure_list").is_some() {
        return Ok(Format::ReportPortalLaunch(value));
    }
    if let Some(content) = value.get("content") {
        let first = content.get(0);
        if let Some(known) = first.and_then(foreign::element).filter(|_| !first.is_some_and(is_item)) {
            return Err(refuse(source, key(source, &[Step::Key("content"), Step::Index(0)], known), known.what, known.help));
        }
        if value.get("page").is_some() || first.is_some_and(is_item) {
            return Ok(Format::ReportPortalPage(value));
        }
    }
    if let Some(known) = foreign::object(&value) {
        return Err(answer(refuse(source, key(source, &[], known), known.what, known.help), &value, known));
    }
    // An envelope that lacks its list gets told so by the reader, with a did-you-mean.
    if value.get("run_id").is_some() || value.as_object().is_some_and(|map| map.keys().any(|key| key.contains("failure"))) {
        return Ok(Format::ReportPortalLaunch(value));
    }
    let span = json_span::locate(source.text(), &[]);
    let keys: Vec<String> =
        value.as_object().into_iter().flat_map(|map| map.keys()).take(6).map(|key| format!("`{key}`")).collect();
    let what = match keys.len() {
        0 => "an empty JSON object".to_owned(),
        _ => format!("a JSON object with {}", keys.join(", ")),
    };
    Err(refuse(source, span, &what, WANTED))
}

/// What the API said when it refused is the most useful thing to pass on.
fn answer(diagnostic: Diagnostic, value: &Value, known: Foreign) -> Diagnostic {
    let said = ["message", "error_description"].iter().find_map(|key| value.get(key)?.as_str());
    match said.filter(|_| known.what.contains("ReportPortal API")) {
        Some(said) => diagnostic.help(format!("it says: {}; {}", super::clean::clean(said), known.help)),
        None => diagnostic,
    }
}

fn list(source: &Source, value: Value) -> Result<Format, Diagnostic> {
    let Some(first) = value.get(0) else {
        let what = if value.is_array() { "an empty JSON list" } else { "a bare JSON value" };
        return Err(refuse(source, json_span::locate(source.text(), &[]), what, WANTED));
    };
    if is_item(first) {
        return Ok(Format::ReportPortalItems(value));
    }
    let place = [Step::Index(0)];
    if let Some(known) = foreign::element(first) {
        return Err(refuse(source, key(source, &place, known), known.what, known.help));
    }
    let help = format!("the elements of a list of items need `id`, `name` and `status`; {WANTED}");
    Err(refuse(source, json_span::locate(source.text(), &place), "a JSON list of something else than test items", &help))
}

/// True if the value has what every item must have.
fn is_item(value: &Value) -> bool {
    ["id", "name", "status"].iter().all(|key| value.get(key).is_some()) && value.get("mode").is_none()
}

/// Which XML it is.
fn markup(source: &Source, body: &str) -> Result<Format, Diagnostic> {
    let start = body.get(..15).unwrap_or(body).to_ascii_lowercase();
    if (start.starts_with("<!doctype html") || start.starts_with("<html"))
        && let Some(known) = foreign::root("html")
    {
        return Err(refuse(source, first_line(source.text()), known.what, known.help));
    }
    let root = xml::root(source)?;
    if matches!(root.name.as_str(), "testsuites" | "testsuite") {
        return Ok(Format::Junit);
    }
    match foreign::root(&root.name) {
        Some(known) => Err(refuse(source, root.span, known.what, known.help)),
        None => Err(refuse(source, root.span, &format!("XML with the root element `{}`", root.name), WANTED)),
    }
}

/// The place of the key that gives a format away.
fn key(source: &Source, path: &[Step<'_>], known: Foreign) -> Span {
    json_span::locate_key(source.text(), path, known.clue)
}

/// The refusal of a text with nothing in it.
fn empty(source: &Source) -> Diagnostic {
    Diagnostic::error("ingest/empty", format!("{} is empty", source.name()))
        .label(source, Span::new(0, 0), "nothing here")
        .help(format!("the tool that writes it may have stopped before it did; {WANTED}"))
}

/// The refusal of something that is no launch.
fn refuse(source: &Source, span: Span, what: &str, help: &str) -> Diagnostic {
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
