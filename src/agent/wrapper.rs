//! The wrapper `{dispatch_id, data}` around an answer: which request it answers, and the artifact.

use serde_json::{Map, Value};

/// What somebody left as the answer to a request.
#[derive(Debug, PartialEq)]
pub enum Opened {
    /// The answer.
    Mine(Value),
    /// The answer, without an artifact.
    Empty,
    /// The answer to another request, or to none.
    Stale,
    /// Nothing that can be read; why.
    Invalid(String),
}

/// Opens what was left as the answer to the request `id`. An artifact of null is an empty one; no id is 0, which is nobody's.
pub fn open(text: &[u8], id: i64) -> Opened {
    let mut fields = match super::artifact::json(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Opened::Invalid("it is no JSON object".into()),
        Err(why) => return Opened::Invalid(why),
    };
    match fields.get("dispatch_id").filter(|id| !id.is_null()).map_or(Some(0), Value::as_i64) {
        None => Opened::Invalid("its `dispatch_id` is no whole number".into()),
        Some(said) if said != id => Opened::Stale,
        Some(_) => match fields.remove("data") {
            None => Opened::Empty,
            Some(Value::Null) => Opened::Mine(Value::Object(Map::new())),
            Some(data) => Opened::Mine(data),
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
        assert_eq!(open("{\"dispatch_id\": 3, \"data\": {\"a\": 1}, \"note\": 1}"), Opened::Mine(json!({"a": 1})));
        assert_eq!(open("{\"dispatch_id\": 3, \"data\": null}"), Opened::Mine(json!({})));
        assert_eq!(open("{\"dispatch_id\": 3}"), Opened::Empty);
        for stale in ["{}", "{\"a\": 1}", "{\"dispatch_id\": null, \"data\": {}}", "{\"dispatch_id\": 2, \"data\": {}}"] {
            assert_eq!(open(stale), Opened::Stale, "{stale}");
        }
        let deep = "[".repeat(1000);
        for invalid in
            ["", "{\"dispatch_id\": 3, \"da", "[]", "{\"dispatch_id\": \"3\"}", "{\"dispatch_id\": 3.5}", &deep, "\u{0}"]
        {
            assert!(matches!(open(invalid), Opened::Invalid(_)), "{invalid}");
        }
    }
}
