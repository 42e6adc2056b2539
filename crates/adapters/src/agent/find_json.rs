//! Extracts the JSON object from an agent's output: the whole of it, the last fenced block, or the last object in the text.

use super::artifact::{is_too_deep, too_deep};
use serde_json::Value;

/// The object that a text is or ends with; an error if it nests too deeply.
pub(super) fn object(text: &str) -> Result<Option<Value>, String> {
    match read(text.trim())? {
        Some(value @ Value::Object(_)) => return Ok(Some(value)),
        Some(_) => return Ok(None),
        None => {}
    }
    match fenced(text)? {
        None => last(text),
        found => Ok(found),
    }
}

/// Parses a value; `None` if it is not JSON.
fn read(text: &str) -> Result<Option<Value>, String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(Some(value)),
        // Objects nested in it are not the answer.
        Err(error) if is_too_deep(&error) => Err(too_deep()),
        Err(_) => Ok(None),
    }
}

/// The last fenced block that is an object.
fn fenced(text: &str) -> Result<Option<Value>, String> {
    let mut found = None;
    // The closing fence of the open block, and its start.
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let marks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match open {
            None if marks >= 3 => open = Some((&trimmed[..marks], at + line.len())),
            Some((fence, from)) if trimmed == fence => {
                found = read(text[from..at].trim())?.filter(Value::is_object).or(found);
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    Ok(found)
}

/// The last top-level object in a text.
fn last(text: &str) -> Result<Option<Value>, String> {
    let mut found = None;
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                found = Some(value);
                rest = &rest[values.byte_offset()..];
            }
            Some(Err(error)) if is_too_deep(&error) => return Err(too_deep()),
            _ => rest = &rest[1..],
        }
    }
    Ok(found)
}

/// The part of a value at a path of names and indices (`usage.input_tokens`, `choices.0.text`).
pub(super) fn value_at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => value.get(step),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_found_in_any_chatter() {
        for (text, wanted) in [
            (r#"{"a": 1}"#, Some(1)),
            ("  \n{\"a\": 1}\n", Some(1)),
            ("Sure!\n```json\n{\"a\": 2}\n```\nAnything else?", Some(2)),
            ("First\n```\n{\"a\": 1}\n```\nno, better:\n```json\n{\"a\": 2}\n```", Some(2)),
            ("````\n```\n{\"a\": 9}\n```\n````\n{\"a\": 3}", Some(3)),
            ("I think {maybe} {\"a\": 4} is right", Some(4)),
            ("{\"a\": 1} and then {\"a\": {\"a\": 5}, \"b\": [{}]}", None),
            ("{\"a\": \"}\", \"a\": 6} {", Some(6)),
            ("[{\"a\": 1}]", None),
            ("nothing", None),
            ("", None),
            ("{\"a\": ", None),
        ] {
            let found = object(text).unwrap().and_then(|value| value["a"].as_i64());
            assert_eq!(found, wanted, "{text}");
        }
        assert_eq!(object("x {\"a\": 1} y {\"a\": {\"a\": 5}}"), Ok(Some(json!({"a": {"a": 5}}))));
    }

    /// An object that nests too deeply is an error, not skipped in favour of a nested one.
    #[test]
    fn too_deep_nesting_is_an_error() {
        let deep = format!("{{\"a\": {}{}, \"b\": {{\"a\": 1}}}}", "[".repeat(200), "]".repeat(200));
        for text in [deep.clone(), format!("Here: {deep}"), format!("```json\n{deep}\n```")] {
            assert!(object(&text).unwrap_err().contains("deeper"), "{text}");
        }
    }

    #[test]
    fn hostile_text_takes_no_long_time() {
        let began = std::time::Instant::now();
        for text in
            ["{".repeat(1 << 20), "{\"a\":[".repeat(1 << 17), format!("{{\"a\":\"{}", "{".repeat(1 << 20)), "{\"".repeat(1 << 19)]
        {
            assert!(!matches!(object(&text), Ok(Some(_))));
        }
        assert!(began.elapsed().as_secs() < 180, "{:?}", began.elapsed());
    }

    #[test]
    fn parts_are_found_by_their_path() {
        let value = json!({"usage": {"in": 3}, "choices": [{"text": "x"}]});
        assert_eq!(value_at(&value, "usage.in"), Some(&json!(3)));
        assert_eq!(value_at(&value, "choices.0.text"), Some(&json!("x")));
        assert_eq!(value_at(&value, "choices.1.text"), None);
    }
}
