//! The keys at the start of a JSON text, which may be cut off.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// How deep keys are collected.
const MAX_DEPTH: usize = 2;

/// The maximum number of keys that are considered.
const MAX_KEYS: usize = 1000;

/// The paths of the keys of an object, or of the first element of a list.
#[derive(Debug, Default)]
pub(super) struct HeadKeys {
    /// Whether the text is a list.
    pub(super) is_list: bool,
    /// `a` and `a.b`; lists within stand for their first element.
    paths: Vec<String>,
}

impl HeadKeys {
    /// Collects the keys as far as the text goes.
    pub(super) fn read(head: &[u8]) -> Self {
        let mut keys = Self::default();
        let is_list = head.trim_ascii_start().starts_with(b"[");
        // A large text is cut off at the end of the head.
        drop(KeysOf { into: &mut keys, path: "", depth: 1 }.deserialize(&mut serde_json::Deserializer::from_slice(head)));
        Self { is_list, ..keys }
    }

    /// Whether each of these is a path; `a|b` is one of two.
    pub(super) fn has_all(&self, wanted: &[&str]) -> bool {
        wanted.iter().all(|names| names.split('|').any(|name| self.paths.iter().any(|path| path == name)))
    }
}

/// Collects the keys of one value.
struct KeysOf<'k> {
    into: &'k mut HeadKeys,
    path: &'k str,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for KeysOf<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        if self.depth > MAX_DEPTH { json.deserialize_ignored_any(IgnoredAny).map(drop) } else { json.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for KeysOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let path = if self.path.is_empty() { key } else { format!("{}.{key}", self.path) };
            if self.into.paths.len() < MAX_KEYS {
                self.into.paths.push(path.clone());
            }
            map.next_value_seed(KeysOf { into: self.into, path: &path, depth: self.depth + 1 })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        seq.next_element_seed(KeysOf { into: self.into, path: self.path, depth: self.depth })?;
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_two_levels_deep_in_a_text_that_is_cut_off() {
        let keys = HeadKeys::read(br#"{"a": {"b": {"c": 1}}, "d": [{"e": 1}, {"f": 1}], "g": [[{"h": "#);
        assert_eq!(keys.paths, ["a", "a.b", "d", "d.e", "g", "g.h"]);
        assert!(keys.has_all(&["a", "x|d.e"]) && !keys.has_all(&["x"]) && !keys.is_list);
        let keys = HeadKeys::read(br#" [{"a": {"b": 1}}, {"c": 1}]"#);
        assert!(keys.is_list && keys.has_all(&["a.b"]) && !keys.has_all(&["c"]));
    }
}
