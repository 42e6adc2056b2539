//! What templates are filled with, converted as far as a template looks at it and no further.

use minijinja::value::{Enumerator, Object, ObjectRepr};
use std::fmt;
use std::sync::Arc;

/// A tree of values that templates can show. A part is as cheap to get as a reference count.
pub trait TemplateValue: Clone + Send + Sync + 'static {
    /// What it is.
    fn look(&self) -> ValueKind<'_>;
    /// The entry of an object; nothing if it is not there.
    fn entry(&self, key: &str) -> Option<Self>;
    /// The item of a list.
    fn item(&self, at: usize) -> Option<Self>;
    /// The keys of an object, in order.
    fn keys(&self) -> Vec<&str>;
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind<'a> {
    /// Nothing.
    Nothing,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// A list of so many items.
    List(usize),
    /// An object of so many entries.
    Object(usize),
}

/// The parameters of a template.
#[derive(Clone, Debug)]
pub struct Values(pub(super) minijinja::Value);

impl Values {
    /// Parameters that are converted when the template asks for them.
    pub fn of<T: TemplateValue>(tree: &T) -> Self {
        Self(value(tree))
    }
}

impl From<&serde_json::Value> for Values {
    /// Parameters from a record, converted at once.
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
