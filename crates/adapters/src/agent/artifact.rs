//! Acceptance of artifacts from outside: bounds on size and depth.

use serde_json::Value;

/// Maximum size of an artifact, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// Maximum nesting depth.
const MAX_DEPTH: usize = 64;

/// Parses an artifact; an error says what is wrong with it.
pub fn parse(text: &str) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(too_long(MAX_BYTES));
    }
    checked(json(text.as_bytes())?)
}

/// Message: the input exceeds the size limit.
pub fn too_long(most: usize) -> String {
    format!("it is longer than {most} bytes")
}

/// Parses JSON; an error says what is wrong with it.
pub(super) fn json(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|error| parse_error(&error))
}

/// Message: the JSON cannot be parsed.
pub(super) fn parse_error(error: &serde_json::Error) -> String {
    if is_too_deep(error) { too_deep() } else { format!("it is not valid JSON: {error}") }
}

/// Whether JSON was rejected because it nests too deeply: the parser stops at twice the accepted depth.
pub fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

/// Message: the artifact nests too deeply.
pub fn too_deep() -> String {
    format!("it nests deeper than {MAX_DEPTH} levels")
}

/// The value, if it is an object within the depth limit.
pub(super) fn checked(value: Value) -> Result<Value, String> {
    let what = match &value {
        Value::Object(_) if depth(&value) > MAX_DEPTH => return Err(too_deep()),
        Value::Object(_) => return Ok(value),
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a bool",
        Value::Null => "null",
    };
    Err(format!("expected a JSON object, got {what}"))
}

/// Unwraps `{dispatch_id, data}` into id and artifact; a value without a wrapper is returned unchanged.
pub fn unwrapped(value: Value) -> (Option<i64>, Value) {
    match value {
        Value::Object(mut fields) if fields.len() == 2 && fields.contains_key("dispatch_id") && fields.contains_key("data") => {
            let id = fields.get("dispatch_id").and_then(Value::as_i64).unwrap_or_default();
            (Some(id), fields.remove("data").unwrap_or_default())
        }
        other => (None, other),
    }
}

/// Overwrites the field that names the author of an artifact with the actual answerer, so that no answerer can use another's
/// name.
pub fn set_author(artifact: &mut Value, by: &str) {
    if let Some(said) = artifact.get_mut("by").filter(|said| said.is_string()) {
        *said = by.into();
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_objects_within_bounds_are_accepted() {
        assert_eq!(parse("{\"a\": 1}"), Ok(json!({"a": 1})));
        assert!(parse("[1]").is_err_and(|why| why.contains("a list")));
        assert!(parse("{").is_err_and(|why| why.contains("not valid JSON")));
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(70), "]".repeat(70));
        assert!(parse(&deep).is_err_and(|why| why.contains("64 levels")));
        assert!(parse(&" ".repeat(MAX_BYTES + 1)).is_err_and(|why| why.contains("bytes")));
    }

    #[test]
    fn a_wrapper_is_taken_off() {
        assert_eq!(unwrapped(json!({"dispatch_id": 3, "data": {"a": 1}})), (Some(3), json!({"a": 1})));
        assert_eq!(unwrapped(json!({"data": 1})), (None, json!({"data": 1})));
    }
}
