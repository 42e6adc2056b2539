//! Locations in a JSON text: of syntax errors, and of values by their path.
//!
//! `serde_json` parses and validates the text, but its values have no locations. A value is only located when an error is to be
//! reported, by scanning text already known to be valid JSON.

use asterisk_diag::{Code, Diagnostic, Source, Span};
use serde_json::error::Category;

/// One step from a value to a value within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonStep<'a> {
    /// A member of an object.
    Key(&'a str),
    /// An element of a list.
    Index(usize),
}

/// The start of the text after a byte order mark.
pub(super) fn body_start(text: &str) -> usize {
    text.len() - text.trim_start_matches('\u{feff}').len()
}

/// The diagnostic for a syntax error. Its lines are counted from after a byte order mark.
pub(super) fn syntax(source: &Source, error: &serde_json::Error) -> Diagnostic {
    let start = body_start(source.text());
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or_default();
    if error.classify() == Category::Eof {
        return truncated(source);
    }
    let at = byte_offset(&source.text()[start..], error.line(), error.column()) + start;
    let span = char_at(source.text(), at);
    if words.contains("recursion limit") {
        return Diagnostic::error(Code::IngestTooDeep, "the JSON is nested more than 128 levels deep")
            .label(source, span, "here")
            .help("a launch is a few levels deep: check which file this is");
    }
    Diagnostic::error(Code::IngestJsonSyntax, format!("this is not valid JSON: {words}"))
        .label(source, span, words)
        .help("export the launch again, or check the file with a JSON tool")
}

/// The diagnostic for a text that ends too early; labels the innermost open bracket.
fn truncated(source: &Source) -> Diagnostic {
    let text = source.text();
    let end = last_char(text);
    let mut diagnostic =
        Diagnostic::error("ingest/truncated", "the JSON ends before it is complete").label(source, end, "ends here");
    if let Some(open) = innermost_open(text) {
        let ch = &text[open..=open];
        diagnostic = diagnostic.label(source, Span::new(open, open + 1), format!("this `{ch}` is never closed"));
    }
    diagnostic.help("the download or copy was cut off: fetch the file again")
}

/// The last bracket still open at the end of the text.
fn innermost_open(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at) - 1,
            b'{' | b'[' => open.push(at),
            b'}' | b']' => {
                open.pop();
            }
            _ => {}
        }
        at += 1;
    }
    open.pop()
}

/// The byte offset of serde's 1-based line and column; columns count bytes, up to and including the offending one.
pub(super) fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let start = if line <= 1 { 0 } else { text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1) };
    (start + column.saturating_sub(1)).min(text.len())
}

/// The span of the character at byte `at`, or of the last one.
fn char_at(text: &str, at: usize) -> Span {
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    text[start..].chars().next().map_or_else(|| last_char(text), |ch| Span::new(start, start + ch.len_utf8()))
}

/// The last visible character: a label at the very end would show no caret.
pub(super) fn last_char(text: &str) -> Span {
    let shown = text.trim_end();
    let start = shown.char_indices().next_back().map_or(0, |(at, _)| at);
    Span::new(start, shown.len())
}

/// The span of the value at `path`, or of the nearest existing value on the way. A value that spans lines is represented by its
/// first character. The text must be valid JSON.
pub(super) fn locate(text: &str, path: &[JsonStep<'_>]) -> Span {
    let bytes = text.as_bytes();
    let mut at = skip_blank(bytes, body_start(text));
    for step in path {
        match member(text, at, *step) {
            Some(found) => at = found.1,
            None => break,
        }
    }
    shown(text, at)
}

/// The span of the key `key` in the object at `path`.
pub(super) fn locate_key(text: &str, path: &[JsonStep<'_>], key: &str) -> Span {
    let object = locate(text, path).start;
    let found = member(text, object, JsonStep::Key(key)).map(|(key_at, _)| key_at);
    shown(text, found.unwrap_or(object))
}

/// The span of a scalar, or of the opening bracket of anything else.
fn shown(text: &str, at: usize) -> Span {
    match text.as_bytes().get(at) {
        Some(b'{' | b'[') => Span::new(at, at + 1),
        Some(_) => Span::new(at, value_end(text.as_bytes(), at)),
        None => last_char(text),
    }
}

/// The offsets of a member's key (or, in a list, its value) and of its value. Of duplicate keys the last counts, as in
/// `serde_json`.
fn member(text: &str, container: usize, step: JsonStep<'_>) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let object = match (bytes.get(container)?, step) {
        (b'{', JsonStep::Key(_)) => true,
        (b'[', JsonStep::Index(_)) => false,
        _ => return None,
    };
    let mut found = None;
    let mut at = skip_blank(bytes, container + 1);
    let mut index = 0;
    while at < bytes.len() && !matches!(bytes[at], b'}' | b']') {
        let start = at;
        if object {
            at = skip_blank(bytes, string_end(bytes, at));
            at = skip_blank(bytes, at + 1);
        }
        let wanted = match step {
            JsonStep::Key(name) => {
                serde_json::from_str::<String>(&text[start..string_end(bytes, start)]).is_ok_and(|key| key == name)
            }
            JsonStep::Index(number) => number == index,
        };
        if wanted {
            found = Some((start, at));
            if !object {
                break;
            }
        }
        at = skip_blank(bytes, value_end(bytes, at));
        if bytes.get(at) == Some(&b',') {
            at = skip_blank(bytes, at + 1);
        }
        index += 1;
    }
    found
}

fn skip_blank(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The offset after the closing quote of the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'"' => return end + 1,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// The offset after the value that begins at `at`.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => at = string_end(bytes, at),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(b'}' | b']') => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            Some(b',' | b':') => at += 1,
            Some(byte) if byte.is_ascii_whitespace() => at += 1,
            Some(_) => {
                while bytes.get(at).is_some_and(|byte| {
                    !matches!(byte, b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"') && !byte.is_ascii_whitespace()
                }) {
                    at += 1;
                }
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JsonStep::{Index, Key};
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn parse(source: &Source) -> Result<Value, Diagnostic> {
        serde_json::from_str(&source.text()[body_start(source.text())..]).map_err(|error| syntax(source, &error))
    }

    fn place(diagnostic: &Diagnostic) -> (usize, usize) {
        let label = diagnostic.primary().expect("a label");
        label.source.line_column(label.span.start)
    }

    #[test]
    fn a_syntax_error_is_shown_at_its_character() {
        let table = [
            ("{\n  \"a\": 1,\n  \"b\" 2\n}", (3, 7), "ingest/json-syntax"),
            ("{\"é\": tru}", (1, 10), "ingest/json-syntax"),
            ("[1, 2] x", (1, 8), "ingest/json-syntax"),
            ("{\"a\": [1, {\"b\": 2", (1, 17), "ingest/truncated"),
            ("[\"abc", (1, 5), "ingest/truncated"),
        ];
        for (text, at, code) in table {
            let error = parse(&Source::new("x.json", text)).expect_err("broken");
            assert_eq!((place(&error), error.code.as_ref()), (at, code), "{text}: {error}");
        }
    }

    #[test]
    fn a_truncated_text_shows_what_is_open() {
        let error = parse(&Source::new("x.json", "{\"a\": [1, {\"b\": 2")).expect_err("broken");
        assert_eq!(error.labels[1].span, Span::new(10, 11));
        assert_eq!(error.labels[1].text, "this `{` is never closed");
    }

    #[test]
    fn a_deep_text_is_refused() {
        let error = parse(&Source::new("x.json", "[".repeat(200_000))).expect_err("deep");
        assert_eq!(error.code, "ingest/too-deep");
    }

    #[test]
    fn values_and_keys_are_found_by_their_path() {
        let text = "\u{feff}{ \"a\" : [ 1 , {\"b\":\"x\\\"]\" , \"c\\u0061\": -1.5e3}, [] ], \"d\": null, \"d\": true }";
        let at = |path: &[JsonStep<'_>]| locate(text, path);
        let slice = |span: Span| &text[span.start..span.end];
        assert_eq!(slice(at(&[])), "{");
        assert_eq!(slice(at(&[Key("a"), Index(0)])), "1");
        assert_eq!(slice(at(&[Key("a"), Index(1), Key("b")])), "\"x\\\"]\"");
        assert_eq!(slice(at(&[Key("a"), Index(1), Key("ca")])), "-1.5e3");
        assert_eq!(slice(at(&[Key("a"), Index(2), Index(0)])), "[", "the nearest that exists");
        assert_eq!(slice(at(&[Key("d")])), "true", "the last of two");
        assert_eq!(slice(locate_key(text, &[Key("a"), Index(1)], "b")), "\"b\"");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a\"\\\\\\]},é ]{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[a-c\"\\\\{]{1,3}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn check(text: &str, value: &Value, path: &mut Vec<JsonStep<'_>>) {
        let span = locate(text, path);
        if value.is_object() || value.is_array() {
            assert!(matches!(&text[span.start..span.end], "{" | "["));
        } else {
            assert_eq!(serde_json::from_str::<Value>(&text[span.start..span.end]).expect("a scalar"), *value);
        }
        match value {
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    let mut path = path.clone();
                    path.push(JsonStep::Index(index));
                    check(text, inner, &mut path);
                }
            }
            Value::Object(map) => {
                for (key, inner) in map {
                    let mut path = path.clone();
                    path.push(JsonStep::Key(key));
                    check(text, inner, &mut path);
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn every_value_is_found(value in json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.expect("json");
            check(&text, &value, &mut Vec::new());
        }

        #[test]
        fn any_text_is_parsed_or_located(text in any::<String>(), cut in 0_usize..200) {
            let whole = format!("{{\"a\": [1, \"{}\"]}}", text.escape_default());
            let end = super::super::cut::floor(&whole, cut);
            for text in [text.as_str(), &whole[..end]] {
                if let Err(error) = parse(&Source::new("x", text)) {
                    let label = error.primary().expect("a label");
                    prop_assert!(text.get(label.span.start..label.span.end).is_some());
                }
            }
        }
    }
}
