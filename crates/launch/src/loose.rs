//! Values of JSON reports. One of another type than expected reads as if it were absent, so that it costs no more than itself.

use super::times;
use asterisk_base::clock::Timestamp;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A text; numbers and booleans are converted.
#[derive(Debug, Default)]
pub(super) struct Text(String);

impl Text {
    /// The text, unless it is blank.
    pub(super) fn some(&self) -> Option<&str> {
        Some(self.0.trim()).filter(|text| !text.is_empty())
    }

    /// The time that it stands for.
    pub(super) fn time(&self) -> Option<Timestamp> {
        times::parse(&self.0)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A number, also one that is written as a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonNumber(Option<f64>);

impl JsonNumber {
    /// As a count.
    pub(super) fn count(self) -> u64 {
        // A negative or very large count is cut to the range.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        self.0.map_or(0, |number| number as u64)
    }

    /// Of seconds: the duration.
    pub(super) fn seconds(self) -> Option<f64> {
        self.0.filter(|number| number.is_finite() && *number >= 0.0)
    }

    /// Of milliseconds: the duration in seconds.
    pub(super) fn millis(self) -> Option<f64> {
        self.seconds().map(|millis| millis / 1000.0)
    }

    /// Of nanoseconds: the duration in seconds.
    pub(super) fn nanos(self) -> Option<f64> {
        self.seconds().map(|nanos| nanos / 1e9)
    }

    /// Of milliseconds since 1970: the time.
    pub(super) fn time(self) -> Option<Timestamp> {
        self.0.and_then(|number| times::parse(&format!("{number:.0}")))
    }
}

/// A value that is its default if it is of another type.
#[derive(Debug, Default)]
pub(super) struct Loose<T>(pub(super) T);

impl<T> Deref for Loose<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A list, or the values of an object. An element of another type is its default.
#[derive(Debug)]
pub(super) struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl List<Text> {
    /// The texts that are not blank.
    pub(super) fn joined(&self, between: &str) -> String {
        self.iter().filter_map(Text::some).collect::<Vec<_>>().join(between)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ScalarVisitor(|text: &str| Self(text.to_owned())))
    }
}

impl<'de> Deserialize<'de> for JsonNumber {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ScalarVisitor(|text: &str| Self(text.trim().parse().ok())))
    }
}

/// Reads a scalar from its text.
struct ScalarVisitor<F>(F);

impl<'de, T, F: FnOnce(&str) -> T> Visitor<'de> for ScalarVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok((self.0)(""))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        Ok((self.0)(if value { "true" } else { "false" }))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok((self.0)(&value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok((self.0)(&value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok((self.0)(&value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        Ok((self.0)(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        skip_seq(&mut seq)?;
        Ok((self.0)(""))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        skip_map(&mut map)?;
        Ok((self.0)(""))
    }
}

fn skip_seq<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_map<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(LooseVisitor(PhantomData)).map(Self)
    }
}

struct LooseVisitor<T>(PhantomData<T>);

impl<T> LooseVisitor<T> {
    fn read<'de>(from: impl IntoDeserializer<'de>) -> T
    where
        T: Deserialize<'de> + Default,
    {
        T::deserialize(from.into_deserializer()).unwrap_or_default()
    }
}

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for LooseVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        Ok(Self::read(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(Self::read(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok(Self::read(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(Self::read(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        Ok(Self::read(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        skip_seq(&mut seq)?;
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        if let Ok(value) = T::deserialize(MapAccessDeserializer::new(&mut map)) {
            return Ok(value);
        }
        skip_map(&mut map)?;
        Ok(T::default())
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ListVisitor(PhantomData)).map(Self)
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    /// A single text is a list of one.
    fn visit_str<E: Error>(self, value: &str) -> Result<Vec<T>, E> {
        Ok(vec![LooseVisitor::<T>::read(value)])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(Loose(element)) = seq.next_element()? {
            all.push(element);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some((_, Loose(value))) = map.next_entry::<IgnoredAny, _>()? {
            all.push(value);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Inner {
        name: Text,
        count: JsonNumber,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Outer {
        one: Loose<Inner>,
        many: List<Inner>,
        flag: Loose<bool>,
        words: List<Text>,
    }

    #[test]
    fn a_value_of_another_type_is_absent_and_the_rest_is_read() {
        let read = |text| serde_json::from_str::<Outer>(text).expect("a value");
        let outer =
            read(r#"{"one": [1, {"a": 2}], "many": [{"name": 5}, 7, null, {"name": {"x": [1]}, "count": "3"}], "flag": "x"}"#);
        assert!(outer.one.name.is_empty() && !outer.flag.0);
        assert_eq!(
            outer.many.iter().map(|one| (&*one.name, one.count.count())).collect::<Vec<_>>(),
            [("5", 0), ("", 0), ("", 0), ("", 3)]
        );
        let outer = read(r#"{"one": {"name": "a", "x": {}}, "many": {"k": {"count": 1.9}}, "flag": true, "words": "one"}"#);
        assert_eq!(
            (&*outer.one.name, outer.many[0].count.count(), outer.flag.0, &*outer.words.joined(" ")),
            ("a", 1, true, "one")
        );
        assert!(serde_json::from_str::<Outer>(r#"{"many": [{"name": "#).is_err());
    }
}
