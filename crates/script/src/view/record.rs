//! Views in the record of a decision: canonical text, size, and appending.

use super::{ListView, View, ViewNode};
use serde::Serialize as _;
use serde::ser::{SerializeMap as _, SerializeSeq as _, Serializer};

impl View {
    /// The canonical JSON text (`model::canonical` of [`View::json`], written without building it).
    pub fn canonical(&self) -> String {
        let mut out = Vec::with_capacity(256);
        // Writing the JSON of a view to memory cannot fail.
        let written = SerializedView(self).serialize(&mut serde_json::Serializer::new(&mut out));
        match written.ok().and_then(|()| String::from_utf8(out).ok()) {
            Some(text) => text,
            None => self.json().to_string(),
        }
    }

    /// The number of entries of an object, items of a list, or characters of a string; `None` for anything else.
    pub fn len(&self) -> Option<usize> {
        match &self.0 {
            ViewNode::Text(text) => Some(text.chars().count()),
            ViewNode::List(list) => Some(list.items().len()),
            ViewNode::Object(object) => Some(object.entries().count()),
            _ => None,
        }
    }

    /// Whether an object, list or string is empty; false for anything else.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The list with one more item; anything else is treated as an empty list.
    #[must_use]
    pub fn with(&self, item: Self) -> Self {
        match &self.0 {
            ViewNode::List(list) => Self(ViewNode::List(list.with(item))),
            _ => Self::list("list", [item]),
        }
    }
}

/// A view as serialised by serde.
struct SerializedView<'a>(&'a View);

impl serde::Serialize for SerializedView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.0 {
            ViewNode::Null => serializer.serialize_unit(),
            ViewNode::Bool(value) => serializer.serialize_bool(*value),
            ViewNode::Int(value) => serializer.serialize_i64(*value),
            ViewNode::Float(value) => serializer.serialize_f64(*value),
            ViewNode::Text(value) => serializer.serialize_str(value),
            ViewNode::List(list) => {
                let mut seq = serializer.serialize_seq(Some(list.items().len()))?;
                for item in list.items() {
                    seq.serialize_element(&SerializedView(item))?;
                }
                seq.end()
            }
            ViewNode::Object(object) => {
                let mut map = serializer.serialize_map(None)?;
                for (key, view) in object.entries() {
                    map.serialize_entry(key, &SerializedView(view))?;
                }
                map.end()
            }
        }
    }
}

impl ListView {
    /// The list with one more item.
    fn with(&self, item: View) -> Self {
        let items = self.items().iter().cloned().chain([item]).collect();
        Self::new(items, self.shared_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::{Kind, canonical};
    use serde_json::json;

    #[test]
    fn the_canonical_text_is_that_of_the_json() {
        let value = json!({"b": [1, 2.5, "é\"\n", null, true], "a": {"z": {}, "y": []}, "ab": -0.0, "c": 1e300});
        let view = View::of(&value, &Kind::Any, "artifact");
        assert_eq!(view.canonical(), canonical(&value));
    }

    #[test]
    fn appending_does_not_change_the_original_list() {
        let one = View::list("history", [View::from(1)]);
        let two = one.with(View::from(2));
        assert_eq!((one.len(), two.json()), (Some(1), json!([1, 2])));
    }
}
