//! Reads a JSON launch element by element: its lists are never held as a whole, and only the names of keys are kept of what is no
//! part of a launch.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// The keys of lists of items.
const LISTS: [&str; 2] = ["failure_list", "content"];

/// Other keys that are read, of a launch, a page or an error response of the API.
const HEADER: [&str; 12] = [
    "run_id",
    "name",
    "number",
    "status",
    "startTime",
    "endTime",
    "git",
    "statistics",
    "attributes",
    "page",
    "message",
    "error_description",
];

/// Receives elements as they are read.
pub(super) trait Elements {
    /// A list begins. If it is not the first, what was received so far is discarded: of duplicate keys the last counts.
    fn begin(&mut self, list: Option<&'static str>);
    /// An element of the list under the key `list`, or of a text that is itself a list.
    fn element(&mut self, list: Option<&'static str>, index: usize, value: &Value);
}

/// Reads a launch. Returns the object around the lists; the lists in it are empty.
pub(super) fn read<'de, D: Deserializer<'de>>(json: D, elements: &mut impl Elements) -> Result<Value, D::Error> {
    json.deserialize_any(JsonRoot(elements))
}

struct JsonRoot<'e, E>(&'e mut E);

impl<'de, E: Elements> Visitor<'de> for JsonRoot<'_, E> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a launch")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut header = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = if let Some(list) = LISTS.iter().find(|list| **list == key) {
                map.next_value_seed(ElementList(self.0, list))?
            } else if HEADER.contains(&key.as_str()) {
                map.next_value()?
            } else {
                map.next_value_seed(Skip)?;
                Value::Bool(true)
            };
            header.insert(key, value);
        }
        Ok(Value::Object(header))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        read_list(seq, None, self.0)
    }

    fn visit_unit<X>(self) -> Result<Value, X> {
        Ok(Value::Null)
    }

    fn visit_bool<X>(self, value: bool) -> Result<Value, X> {
        Ok(Value::Bool(value))
    }
}

/// Passes on the elements of a list; each is dropped before the next is read.
fn read_list<'de, A: SeqAccess<'de>>(
    mut seq: A,
    list: Option<&'static str>,
    elements: &mut impl Elements,
) -> Result<Value, A::Error> {
    elements.begin(list);
    let mut index = 0;
    while let Some(value) = seq.next_element::<Value>()? {
        elements.element(list, index, &value);
        index += 1;
    }
    Ok(Value::Array(Vec::new()))
}

struct ElementList<'e, E>(&'e mut E, &'static str);

impl<'de, E: Elements> DeserializeSeed<'de> for ElementList<'_, E> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Passes on a list; anything else is kept, to be reported as an error.
impl<'de, E: Elements> Visitor<'de> for ElementList<'_, E> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        read_list(seq, Some(self.1), self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Skip)?;
        }
        Ok(Value::Object(Map::new()))
    }

    fn visit_unit<X>(self) -> Result<Value, X> {
        Ok(Value::Null)
    }

    fn visit_bool<X>(self, value: bool) -> Result<Value, X> {
        Ok(value.into())
    }

    fn visit_i64<X>(self, value: i64) -> Result<Value, X> {
        Ok(value.into())
    }

    fn visit_u64<X>(self, value: u64) -> Result<Value, X> {
        Ok(value.into())
    }

    fn visit_f64<X>(self, value: f64) -> Result<Value, X> {
        Ok(value.into())
    }

    fn visit_str<X>(self, value: &str) -> Result<Value, X> {
        Ok(value.into())
    }
}

/// Skips a value within the recursion limit, which `IgnoredAny` ignores.
struct Skip;

impl<'de> DeserializeSeed<'de> for Skip {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skip {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Self)?;
        }
        Ok(())
    }

    fn visit_unit<X>(self) -> Result<(), X> {
        Ok(())
    }

    fn visit_bool<X>(self, _: bool) -> Result<(), X> {
        Ok(())
    }

    fn visit_i64<X>(self, _: i64) -> Result<(), X> {
        Ok(())
    }

    fn visit_u64<X>(self, _: u64) -> Result<(), X> {
        Ok(())
    }

    fn visit_f64<X: serde::de::Error>(self, value: f64) -> Result<(), X> {
        if value.is_finite() { Ok(()) } else { Err(X::custom("number out of range")) }
    }

    fn visit_str<X>(self, _: &str) -> Result<(), X> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Default)]
    struct RecordedElements(Vec<(Option<&'static str>, usize, Value)>);

    impl Elements for RecordedElements {
        fn begin(&mut self, _: Option<&'static str>) {
            self.0.clear();
        }

        fn element(&mut self, list: Option<&'static str>, index: usize, value: &Value) {
            self.0.push((list, index, value.clone()));
        }
    }

    fn seen(text: &str) -> (Result<Value, String>, RecordedElements) {
        let mut elements = RecordedElements::default();
        let read = read(&mut serde_json::Deserializer::from_str(text), &mut elements).map_err(|error| error.to_string());
        (read, elements)
    }

    #[test]
    fn elements_are_passed_on_and_the_rest_is_kept_by_name() {
        let (header, elements) =
            seen(r#"{"name": "n", "zzz": [1, {"a": null}], "failure_list": [1, {"b": 2}], "content": null}"#);
        assert_eq!(header, Ok(json!({"name": "n", "zzz": true, "failure_list": [], "content": null})));
        assert_eq!(elements.0, [(Some("failure_list"), 0, json!(1)), (Some("failure_list"), 1, json!({"b": 2}))]);
        let (header, elements) = seen(r#"[7, "x"]"#);
        assert_eq!((header, elements.0.len()), (Ok(json!([])), 2));
    }

    #[test]
    fn the_last_of_two_lists_counts() {
        let (_, elements) = seen(r#"{"content": [1, 2], "content": [3]}"#);
        assert_eq!(elements.0, [(Some("content"), 0, json!(3))]);
    }

    #[test]
    fn depth_is_bounded_everywhere() {
        for key in ["a", "name", "content"] {
            let text = format!("{{\"{key}\":{}", "[".repeat(10_000));
            assert!(seen(&text).0.is_err_and(|error| error.contains("recursion limit")), "{key}");
        }
    }
}
