//! Attributes of a launch or a case: few names with short values, stored inline where short.

use compact_str::CompactString;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Names and values, sorted by name, without duplicates. Serialises as a map. A launch may have a hundred thousand cases: a
/// sorted list of inline strings takes a tenth of the memory of a map of strings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Attributes(Vec<(CompactString, CompactString)>);

impl Attributes {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.place(name).ok().map(|at| self.0[at].1.as_str())
    }

    /// Whether a name has a value.
    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// Sets a value, replacing a previous one.
    pub fn insert(&mut self, name: impl Into<CompactString>, value: impl Into<CompactString>) {
        let (name, value) = (name.into(), value.into());
        match self.place(&name) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => {
                // Most cases have few attributes: doubling the capacity would waste more memory than it saves time.
                self.0.reserve_exact(1);
                self.0.insert(at, (name, value));
            }
        }
    }

    /// Removes a name and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<CompactString> {
        self.place(name).ok().map(|at| self.0.remove(at).1)
    }

    /// Iterates over names and values, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Iterates over the values, in order of names.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, value)| value.as_str())
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }
}

impl std::ops::Index<&str> for Attributes {
    type Output = str;

    /// The value of a name; empty if absent.
    fn index(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

impl<N: Into<CompactString>, V: Into<CompactString>> FromIterator<(N, V)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut all = Self::default();
        for (name, value) in pairs {
            all.insert(name, value);
        }
        all
    }
}

impl<N: Into<CompactString>, V: Into<CompactString>, const COUNT: usize> From<[(N, V); COUNT]> for Attributes {
    fn from(pairs: [(N, V); COUNT]) -> Self {
        pairs.into_iter().collect()
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Attributes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut all = Attributes::default();
                while let Some((name, value)) = map.next_entry::<CompactString, CompactString>()? {
                    all.insert(name, value);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_sorted_unique_and_serialise_as_a_map() {
        let mut all = Attributes::from([("lane", "b"), ("arch", "x86"), ("lane", "c")]);
        assert_eq!((all.len(), all.get("lane"), all.get("none"), &all["none"]), (2, Some("c"), None, ""));
        let text = serde_json::to_string(&all).expect("json");
        assert_eq!(text, r#"{"arch":"x86","lane":"c"}"#);
        assert_eq!(serde_json::from_str::<Attributes>(&text).expect("read"), all);
        assert_eq!(all.remove("arch").as_deref(), Some("x86"));
        assert_eq!(all.iter().collect::<Vec<_>>(), [("lane", "c")]);
    }
}
