//! The wrapper `{dispatch_id, data}` around an answer: the request it answers, and the artifact.

use serde_json::{Map, Value};

/// Result of unwrapping an answer.
#[derive(Debug, PartialEq)]
pub enum UnwrappedAnswer {
    /// The answer to the request.
    Mine(Value),
    /// The answer to the request, without an artifact.
    Empty,
    /// An answer to another request, or without an id.
    Stale,
    /// Not a valid wrapper; the reason.
    Invalid(String),
}

/// Unwraps the answer to the request `id`. An artifact of null is an empty one; a missing id is 0, which no request has.
pub fn open(text: &[u8], id: i64) -> UnwrappedAnswer {
    let mut fields = match super::artifact::json(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return UnwrappedAnswer::Invalid("it is not a JSON object".into()),
        Err(why) => return UnwrappedAnswer::Invalid(why),
    };
    match fields.get("dispatch_id").filter(|id| !id.is_null()).map_or(Some(0), Value::as_i64) {
        None => UnwrappedAnswer::Invalid("its `dispatch_id` is not a whole number".into()),
        Some(said) if said != id => UnwrappedAnswer::Stale,
        Some(_) => match fields.remove("data") {
            None => UnwrappedAnswer::Empty,
            Some(Value::Null) => UnwrappedAnswer::Mine(Value::Object(Map::new())),
            Some(data) => UnwrappedAnswer::Mine(data),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_answers_to_the_request_are_opened() {
        let open = |text: &str| open(text.as_bytes(), 3);
        assert_eq!(open("{\"dispatch_id\": 3, \"data\": {\"a\": 1}, \"note\": 1}"), UnwrappedAnswer::Mine(json!({"a": 1})));
        assert_eq!(open("{\"dispatch_id\": 3, \"data\": null}"), UnwrappedAnswer::Mine(json!({})));
        assert_eq!(open("{\"dispatch_id\": 3}"), UnwrappedAnswer::Empty);
        for stale in ["{}", "{\"a\": 1}", "{\"dispatch_id\": null, \"data\": {}}", "{\"dispatch_id\": 2, \"data\": {}}"] {
            assert_eq!(open(stale), UnwrappedAnswer::Stale, "{stale}");
        }
        let deep = "[".repeat(1000);
        for invalid in
            ["", "{\"dispatch_id\": 3, \"da", "[]", "{\"dispatch_id\": \"3\"}", "{\"dispatch_id\": 3.5}", &deep, "\u{0}"]
        {
            assert!(matches!(open(invalid), UnwrappedAnswer::Invalid(_)), "{invalid}");
        }
    }
}
