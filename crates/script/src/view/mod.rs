//! The inputs of scripts: an immutable, shared tree of values. Passing one costs one reference count, whatever its size.

mod build;
mod fingerprint;
mod list;
mod object;
mod path;
#[cfg(test)]
mod reading;
mod record;
mod register;
mod zero;

pub(crate) use fingerprint::Fingerprint;
pub(crate) use list::ListView;
pub(crate) use object::ObjectView;
pub(crate) use register::{register, register_fields};

use path::Path;
use rhai::{Dynamic, ImmutableString};
use serde_json::Value;
use std::fmt;

/// The name of a field. Nearly all are short enough to be stored inline.
type FieldName = compact_str::CompactString;

/// A value as seen by scripts. Compound values know their name in error messages (`artifact.nested`) and how an absent field
/// reads (`docs/decisions/0009-absent-fields-are-zero.md`).
#[derive(Clone)]
pub struct View(pub(super) ViewNode);

#[derive(Clone)]
pub(super) enum ViewNode {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(ImmutableString),
    List(ListView),
    Object(ObjectView),
}

impl View {
    /// The value `()` of scripts.
    pub fn null() -> Self {
        Self(ViewNode::Null)
    }

    /// An object assembled from views, as `state` is at every step. Reading an absent field is an error.
    pub fn object<K: AsRef<str>>(name: &'static str, entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self(ViewNode::Object(ObjectView::assembled(name, entries, object::Absent::Refused)))
    }

    /// An object with arbitrary keys, in which an absent key reads as `missing` (a loop counter never incremented is 0).
    pub fn map<K: AsRef<str>>(name: &'static str, entries: impl IntoIterator<Item = (K, Self)>, missing: Self) -> Self {
        Self(ViewNode::Object(ObjectView::assembled(name, entries, object::Absent::Reads(missing))))
    }

    /// A list of views.
    pub fn list(name: &'static str, items: impl IntoIterator<Item = Self>) -> Self {
        Self(ViewNode::List(ListView::new(items.into_iter().collect(), Path::root(name))))
    }

    /// A field as a script would read it; `None` if reading it would be an error or this is not an object.
    pub fn get(&self, field: &str) -> Option<Self> {
        match &self.0 {
            ViewNode::Object(object) => object.field(field),
            _ => None,
        }
    }

    /// A nested field as a script would read it.
    pub fn path(&self, fields: &[&str]) -> Option<Self> {
        fields.iter().try_fold(self.clone(), |view, field| view.get(field))
    }

    /// The present entries of an object, sorted by key; none for anything else.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Self)> {
        let object = if let ViewNode::Object(object) = &self.0 { Some(object) } else { None };
        object.into_iter().flat_map(ObjectView::entries)
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Self] {
        if let ViewNode::List(list) = &self.0 { list.items() } else { &[] }
    }

    /// A field of an object as given: `None` if it is not present, whatever a script would read.
    pub fn present(&self, field: &str) -> Option<&Self> {
        if let ViewNode::Object(object) = &self.0 { object.given(field) } else { None }
    }

    /// Whether an object has a field that is not null.
    pub(crate) fn has(&self, field: &str) -> bool {
        if let ViewNode::Object(object) = &self.0 { object.has(field) } else { false }
    }

    /// The number of items, if it is a list.
    pub fn as_list(&self) -> Option<usize> {
        if let ViewNode::List(list) = &self.0 { Some(list.items().len()) } else { None }
    }

    /// The number of entries, if it is an object.
    pub fn as_object(&self) -> Option<usize> {
        if let ViewNode::Object(object) = &self.0 { Some(object.len()) } else { None }
    }

    /// The value as JSON. A number that a schema converted to a float stays one.
    pub fn json(&self) -> Value {
        match &self.0 {
            ViewNode::Null => Value::Null,
            ViewNode::Bool(value) => Value::Bool(*value),
            ViewNode::Int(value) => Value::from(*value),
            ViewNode::Float(value) => Value::from(*value),
            ViewNode::Text(value) => Value::from(value.as_str()),
            ViewNode::List(list) => list.items().iter().map(Self::json).collect(),
            ViewNode::Object(object) => object.entries().map(|(key, view)| (key.to_owned(), view.json())).collect(),
        }
    }

    /// The approximate size of its JSON in bytes.
    pub(crate) fn size(&self) -> usize {
        const PART: usize = 16;
        PART + match &self.0 {
            ViewNode::Text(text) => text.len(),
            ViewNode::List(list) => list.items().iter().map(Self::size).sum(),
            ViewNode::Object(object) => object.entries().map(|(key, view)| key.len() + view.size()).sum(),
            _ => 0,
        }
    }

    /// Whether it is `()`.
    pub fn is_null(&self) -> bool {
        matches!(self.0, ViewNode::Null)
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let ViewNode::Text(text) = &self.0 { Some(text) } else { None }
    }

    /// The number, if it is one.
    #[expect(clippy::cast_precision_loss, reason = "a count read as a number")]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            ViewNode::Int(value) => Some(*value as f64),
            ViewNode::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        if let ViewNode::Int(value) = self.0 { Some(value) } else { None }
    }

    /// The bool, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let ViewNode::Bool(value) = self.0 { Some(value) } else { None }
    }

    /// The address of a compound value: values with the same address are identical.
    pub(crate) fn address(&self) -> Option<usize> {
        match &self.0 {
            ViewNode::List(list) => Some(list.address()),
            ViewNode::Object(object) => Some(object.address()),
            _ => None,
        }
    }

    /// The value as a script value. Compound values are shared, not copied.
    pub(crate) fn dynamic(&self) -> Dynamic {
        match &self.0 {
            ViewNode::Null => Dynamic::UNIT,
            ViewNode::Bool(value) => (*value).into(),
            ViewNode::Int(value) => (*value).into(),
            ViewNode::Float(value) => (*value).into(),
            ViewNode::Text(value) => value.clone().into(),
            ViewNode::List(list) => Dynamic::from(list.clone()),
            ViewNode::Object(object) => Dynamic::from(object.clone()),
        }
    }
}

impl From<bool> for View {
    fn from(value: bool) -> Self {
        Self(ViewNode::Bool(value))
    }
}

impl From<i64> for View {
    fn from(value: i64) -> Self {
        Self(ViewNode::Int(value))
    }
}

impl From<f64> for View {
    fn from(value: f64) -> Self {
        Self(ViewNode::Float(value))
    }
}

impl From<&str> for View {
    fn from(value: &str) -> Self {
        Self(ViewNode::Text(value.into()))
    }
}

impl From<String> for View {
    fn from(value: String) -> Self {
        Self(ViewNode::Text(value.into()))
    }
}

impl From<ImmutableString> for View {
    fn from(value: ImmutableString) -> Self {
        Self(ViewNode::Text(value))
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::{Field, Kind, Shape};
    use serde_json::json;
    use std::sync::Arc;

    fn shape() -> Kind {
        let field = |name: &str, kind| Field { name: name.into(), kind, required: true };
        let inner = Shape { name: "inner".into(), sparse: false, fields: vec![field("b", Kind::Int { min: None, max: None })] };
        Kind::Object(Arc::new(Shape {
            name: "test artifact".into(),
            sparse: false,
            fields: vec![
                field("confidence", Kind::Number { min: None, max: None }),
                field("label", Kind::Text { one_of: vec![] }),
                field("hits", Kind::List(Box::new(Kind::Any))),
                field("nested", Kind::Object(Arc::new(inner))),
                field("loops", Kind::Map(Box::new(Kind::Int { min: None, max: None }))),
                field("any", Kind::Any),
                field("flag", Kind::Bool),
            ],
        }))
    }

    fn assert_send_sync<T: Send + Sync>() {}

    #[test]
    fn views_are_send_and_sync() {
        assert_send_sync::<View>();
    }

    #[test]
    fn declared_fields_read_as_zero_when_absent_or_null() {
        for value in
            [json!({}), json!({"confidence": null, "label": null, "hits": null, "nested": null, "flag": null}), json!(null)]
        {
            let view = View::of(&value, &shape(), "artifact");
            assert_eq!(view.get("confidence"), Some(View::from(0.0)));
            assert!(matches!(view.get("confidence").map(|v| v.0), Some(ViewNode::Float(_))), "a number reads as a float");
            assert_eq!(view.get("label"), Some(View::from("")));
            assert_eq!(view.get("hits").map(|hits| hits.items().len()), Some(0));
            assert_eq!(view.path(&["nested", "b"]), Some(View::from(0)));
            assert_eq!(view.path(&["loops", "anything"]), Some(View::from(0)));
            assert_eq!(view.get("any"), Some(View::null()));
            assert_eq!(view.get("flag"), Some(View::from(false)));
            assert_eq!(view.get("zebra"), None);
            assert_eq!(view.path(&["nested", "zebra"]), None);
        }
    }

    #[test]
    fn an_undeclared_field_cannot_be_read_though_present() {
        let view = View::of(&json!({"extra": 1, "confidence": 1}), &shape(), "artifact");
        assert_eq!(view.get("extra"), None);
        assert_eq!(view.json(), json!({"extra": 1, "confidence": 1.0}), "but it is not lost");
    }

    #[test]
    fn without_a_schema_only_present_fields_can_be_read() {
        let view = View::of(&json!({"a": {"b": [1, "x", null]}}), &Kind::Any, "artifact");
        assert_eq!(view.path(&["a", "b"]).map(|b| b.json()), Some(json!([1, "x", null])));
        assert_eq!(view.get("b"), None);
        assert_eq!(View::of(&json!(null), &Kind::Any, "artifact").json(), json!({}), "a null artifact is an empty one");
    }

    #[test]
    fn maps_read_absent_keys_as_missing() {
        let loops = View::map("state.loops", [("H9", View::from(2))], View::from(0));
        assert_eq!(loops.get("H9"), Some(View::from(2)));
        assert_eq!(loops.get("H10"), Some(View::from(0)));
        assert_eq!(loops.json(), json!({"H9": 2}));
    }

    #[test]
    fn views_are_equal_by_value() {
        let a = View::of(&json!({"confidence": 1, "hits": [1, {"x": 2}]}), &shape(), "artifact");
        let b = View::of(&json!({"confidence": 1.0, "hits": [1.0, {"x": 2}]}), &Kind::Any, "other");
        assert_eq!(a, b);
        assert_ne!(a, View::of(&json!({"confidence": 1.0, "hits": []}), &Kind::Any, "other"));
        assert_ne!(View::from("1"), View::from(1));
    }

    #[test]
    fn large_objects_find_their_fields_and_keep_their_values() {
        let large: Value = (0..15_000).map(|i| (format!("key_{i}"), json!(i))).collect::<serde_json::Map<_, _>>().into();
        let view = View::of(&large, &Kind::Any, "artifact");
        assert_eq!(view.get("key_14999"), Some(View::from(14_999)));
        assert_eq!(view.json(), large);
        let copy = view.clone();
        assert_eq!(copy, view);
    }
}
