//! The parameters of templates, converted lazily.

use minijinja::value::{Enumerator, Object, ObjectRepr};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A tree of values that templates can show. Getting a part must cost no more than a reference count.
pub trait TemplateValue: Clone + Send + Sync + 'static {
    /// The value itself, or its type and size.
    fn look(&self) -> ValueKind<'_>;
    /// The entry of an object, if it exists.
    fn entry(&self, key: &str) -> Option<Self>;
    /// The item of a list.
    fn item(&self, at: usize) -> Option<Self>;
    /// The keys of an object, in order.
    fn keys(&self) -> Vec<&str>;
}

/// A scalar, or the type and size of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind<'a> {
    /// Null.
    Nothing,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// A list, with its number of items.
    List(usize),
    /// An object, with its number of entries.
    Object(usize),
}

/// The parameters of a template.
#[derive(Clone, Debug)]
pub struct Values(pub(super) minijinja::Value);

impl Values {
    /// Wraps parameters that are converted when the template uses them.
    pub fn of<T: TemplateValue>(tree: &T) -> Self {
        Self(value(tree))
    }

    /// An object of values that are shared, not copied.
    pub fn object(entries: Vec<(String, Self)>) -> Self {
        let entries: BTreeMap<String, minijinja::Value> = entries.into_iter().map(|(name, value)| (name, value.0)).collect();
        Self(entries.into())
    }
}

impl From<&serde_json::Value> for Values {
    /// Converts recorded parameters at once.
    fn from(json: &serde_json::Value) -> Self {
        Self(minijinja::Value::from(minijinja::value::Serde(json)))
    }
}

fn value<T: TemplateValue>(tree: &T) -> minijinja::Value {
    match tree.look() {
        ValueKind::Nothing => minijinja::Value::from(()),
        ValueKind::Bool(value) => value.into(),
        ValueKind::Int(value) => value.into(),
        ValueKind::Float(value) => value.into(),
        ValueKind::Text(text) => text.into(),
        ValueKind::List(_) | ValueKind::Object(_) => minijinja::Value::from_object(Lazy(tree.clone())),
    }
}

/// A list or object whose parts are not converted yet.
struct Lazy<T>(T);

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }
}

impl<T: TemplateValue> Object for Lazy<T> {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        if matches!(self.0.look(), ValueKind::List(_)) { ObjectRepr::Seq } else { ObjectRepr::Map }
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        match key.as_str() {
            Some(key) => self.get_value_by_str(key),
            None => Some(value(&self.0.item(key.as_usize()?)?)),
        }
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<minijinja::Value> {
        Some(value(&self.0.entry(key)?))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.0.look() {
            ValueKind::List(count) => Enumerator::Seq(count),
            _ => Enumerator::Values(self.0.keys().into_iter().map(minijinja::Value::from).collect()),
        }
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        match self.0.look() {
            ValueKind::List(count) | ValueKind::Object(count) => Some(count),
            _ => None,
        }
    }
}
