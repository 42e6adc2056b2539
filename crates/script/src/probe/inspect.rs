//! A value of a script or an input, to be looked into part by part.

use super::seen::text_of;
use crate::compare::kind_of;
use crate::invoke::{Parameters, ScriptFunction};
use crate::json;
use crate::view::{ListView, ObjectView, View};
use asterisk_diag::Diagnostic;
use rhai::Dynamic;
use serde_json::Value;

/// A value. Inputs are shared, not copied.
#[derive(Clone, Debug)]
pub struct InspectedValue(Dynamic);

/// The parts that a value consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    /// None.
    Scalar,
    /// A list, with its length.
    List(usize),
    /// A map or an object, with the number of its entries.
    Object(usize),
}

impl InspectedValue {
    /// A copy of a value.
    pub(crate) fn new(value: &Dynamic) -> Self {
        match value.is_shared() {
            true if value.is_locked() => Self(Dynamic::UNIT),
            true => Self(value.flatten_clone()),
            false => Self(value.clone()),
        }
    }

    /// An input.
    pub fn of_view(view: &View) -> Self {
        Self(view.dynamic())
    }

    /// Its text in script notation, truncated to fit a line.
    pub fn text(&self) -> String {
        text_of(&self.0)
    }

    /// Its type, in a word: `number`, `list`.
    pub fn kind(&self) -> &'static str {
        let kind = kind_of(&self.0);
        kind.strip_prefix("a ").or_else(|| kind.strip_prefix("an ")).unwrap_or(kind)
    }

    /// The whole text, if it is a string.
    pub fn string(&self) -> Option<String> {
        self.0.as_immutable_string_ref().ok().map(|text| text.to_string())
    }

    /// The value, if it is a bool.
    pub fn truth(&self) -> Option<bool> {
        self.0.as_bool().ok()
    }

    /// The parts that it consists of.
    pub fn shape(&self) -> ValueShape {
        if let Ok(array) = self.0.as_array_ref() {
            return ValueShape::List(array.len());
        }
        if let Ok(map) = self.0.as_map_ref() {
            return ValueShape::Object(map.len());
        }
        if let Some(list) = self.0.read_lock::<ListView>() {
            return ValueShape::List(list.items().len());
        }
        match self.0.read_lock::<ObjectView>() {
            Some(object) => ValueShape::Object(object.len()),
            None => ValueShape::Scalar,
        }
    }

    /// Items of a list, from an index on.
    pub fn items(&self, start: usize, count: usize) -> Vec<Self> {
        if let Ok(array) = self.0.as_array_ref() {
            return array.iter().skip(start).take(count).map(Self::new).collect();
        }
        match self.0.read_lock::<ListView>() {
            Some(list) => list.items().iter().skip(start).take(count).map(Self::of_view).collect(),
            None => Vec::new(),
        }
    }

    /// Entries of a map or an object, in the order of their keys, from a position on.
    pub fn entries(&self, start: usize, count: usize) -> Vec<(String, Self)> {
        if let Ok(map) = self.0.as_map_ref() {
            let entries = map.iter().skip(start).take(count);
            return entries.map(|(key, value)| (key.to_string(), Self::new(value))).collect();
        }
        match self.0.read_lock::<ObjectView>() {
            Some(object) => {
                let entries = object.entries().skip(start).take(count);
                entries.map(|(key, value)| (key.to_owned(), Self::of_view(value))).collect()
            }
            None => Vec::new(),
        }
    }

    /// The entry of a map or an object.
    pub fn entry(&self, key: &str) -> Option<Self> {
        if let Ok(map) = self.0.as_map_ref() {
            return map.get(key).map(Self::new);
        }
        self.0.read_lock::<ObjectView>()?.field(key).as_ref().map(Self::of_view)
    }

    /// The value as an input of an expression; `None` if it is not data.
    pub fn view(&self) -> Option<View> {
        View::frozen(&self.0).ok()
    }

    /// The value as JSON; `None` if it is not data.
    pub fn json(&self) -> Option<Value> {
        json::from_dynamic(&self.0).ok()
    }
}

impl ScriptFunction {
    /// Calls it with read-only inputs, for a value to be looked into.
    pub fn inspect(&self, inputs: &[View]) -> Result<InspectedValue, Box<Diagnostic>> {
        self.evaluate(inputs, Parameters::ReadOnly).map(|value| InspectedValue::new(&value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_and_values_of_scripts_are_looked_into_alike() {
        let input = InspectedValue::of_view(&View::plain(&json!({ "a": [1, "x", null], "b": { "c": true } }), "x"));
        let mut map = rhai::Map::new();
        map.insert("a".into(), vec![1.into(), "x".into(), Dynamic::UNIT].into());
        map.insert("b".into(), Dynamic::from(rhai::Map::from([("c".into(), true.into())])));
        let own = InspectedValue::new(&Dynamic::from(map));
        for value in [&input, &own] {
            assert_eq!(value.shape(), ValueShape::Object(2));
            assert_eq!(value.text(), r#"#{a: [1, "x", ()], b: #{c: true}}"#);
            let entries = value.entries(0, 9);
            assert_eq!(entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(entries[0].1.shape(), ValueShape::List(3));
            let items: Vec<String> = entries[0].1.items(1, 9).iter().map(InspectedValue::text).collect();
            assert_eq!(items, ["\"x\"", "()"]);
            assert_eq!(value.entry("b").and_then(|b| b.entry("c")).and_then(|c| c.truth()), Some(true));
            assert_eq!(value.view().map(|view| view.json()), value.json());
        }
        assert_eq!(own.entries(0, 1)[0].1.kind(), "list");
    }
}
